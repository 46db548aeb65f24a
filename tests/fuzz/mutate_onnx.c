/* How the fuzzer changes models: two times of three as messages, else as bytes. */
#include "onnx.pb-c.h"
#include "tests/support/mutate_message.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    size_t n = seed % 3 == 0 ? 0
                             : vf_mutate_message(&onnx__model_proto__descriptor, data, size,
                                                 max_size, seed);
    return n > 0 ? n : LLVMFuzzerMutate(data, size, max_size);
}
