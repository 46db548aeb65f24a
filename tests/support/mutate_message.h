/* Changes of a protobuf message that leave it one: for a fuzzer of what is read behind the wire.
 *
 * It works on any message by its description. A change is made at some message within: an element
 * of a list is dropped, doubled, moved or taken from another message of the kind; a number becomes
 * an interesting one or a neighbour; a name becomes another one of the message, so that edges move;
 * bytes get another length or content.
 */
#ifndef VF_TESTS_MUTATE_MESSAGE_H
#define VF_TESTS_MUTATE_MESSAGE_H

#include <protobuf-c/protobuf-c.h>
#include <stdint.h>

/* The bytes with a few changes, chosen by `seed`, written over them; their number, or 0 if they are
 * no such message or there is no room in `max_size`. */
size_t vf_mutate_message(const ProtobufCMessageDescriptor *kind, uint8_t *data, size_t size,
                         size_t max_size, unsigned seed);

#endif
