/* model.h: what a caller needs to know. */
#include <inttypes.h>
#include <string.h>

#include "converter/emit/program.h"
#include "converter/emit/spell.h"

static void print_index(const VfEmitRange *range, const VfPlanTensor *low,
                        const VfPlanTensor *high, VfText *text)
{
    vf_text_string(text, "\"");
    vf_spell_comment(text, high->name);
    vf_text_printf(text, "\", %s [", vf_dtype_info(high->dtype)->onnx);
    for (int32_t k = 0; k < high->rank; k++) {
        vf_text_string(text, k > 0 ? ", " : "");
        vf_emit_number(range, low->dims[k], high->dims[k], text);
    }
    vf_text_string(text, "], ");
    vf_emit_number(range, (int64_t)low->bytes, (int64_t)high->bytes, text);
    vf_text_string(text, " bytes");
}

static void print_indexes(const VfEmitProgram *program, bool is_output, VfText *text)
{
    const VfPlan *low = program->whole.low, *high = program->whole.high;
    const char **name = is_output ? program->out_name : program->in_name;
    const char *kind = is_output ? "OUT" : "IN";
    int32_t n = is_output ? high->n_output : high->n_input;
    vf_text_printf(text, "/* Indexes of `%s`. */\nenum {\n", is_output ? "out" : "in");
    for (int32_t i = 0; i < n; i++) {
        vf_text_printf(text, "    %s_%s_%s = %d, /* ", program->upper, kind, name[i], i);
        print_index(&program->whole, is_output ? &low->output[i] : &low->input[i],
                    is_output ? &high->output[i] : &high->input[i], text);
        vf_text_string(text, " */\n");
    }
    vf_text_printf(text, "    %s_N_%s = %d\n};\n\n", program->upper, kind, n);
}

static void print_batch(const VfEmitProgram *program, VfText *text)
{
    const VfEmitRange *whole = &program->whole;
    if (vf_emit_has_batch(whole))
        vf_text_printf(text, "/* The caller chooses the batch; shapes and bytes below are told "
                       "with it. */\n#define %s_MIN_BATCH %" PRId64 "\n#define %s_MAX_BATCH %"
                       PRId64 "\n\n", program->upper, whole->min, program->upper, whole->max);
}

static void print_sizes(const VfEmitProgram *program, VfText *text)
{
    const VfPlan *plan = program->plan;
    bool has_batch = vf_emit_has_batch(&program->whole);
    vf_text_printf(text,
        "/* Bytes of memory, both aligned to EXECUTOR_ALIGNMENT%s. The arena holds intermediate "
        "results\n"
        " * (all of them together have %zu bytes, at most %zu of them at once) and %zu bytes of\n"
        " * scratch; its contents mean nothing between calls. */\n"
        "#define %s_ARENA_BYTES ((size_t)%zu)\n#define %s_WEIGHTS_BYTES ((size_t)%zu)\n\n",
        has_batch ? ", enough for the largest\n * batch" : "", plan->total_bytes,
        plan->live_bytes, program->arena_bytes - program->scratch_offset, program->upper,
        program->arena_bytes, program->upper, program->weights.bytes);
}

static void print_function(const VfEmitProgram *program, VfText *text)
{
    bool has_batch = vf_emit_has_batch(&program->whole);
    vf_text_printf(text,
        "/* Compute the outputs%s: in[i] and out[i] point at the bytes that the lists above tell, "
        "in C\n"
        " * order, aligned for their type. Outputs and arena overlap nothing else. No memory is\n"
        " * allocated, no state is kept, nothing is read or written but what is passed in. "
        "Threads may\n"
        " * call at the same time with the same weights and inputs, each with its own arena and\n"
        " * outputs. Returns EXECUTOR_OK, or EXECUTOR_BAD_INDEX where an index lies outside the "
        "axis that it\n"
        " * counts along: the outputs mean nothing then.", has_batch ? " of `batch` samples" : "");
    if (has_batch)
        vf_text_printf(text, " Or EXECUTOR_BAD_BATCH, with nothing written, where\n"
                       " * `batch` is not in [%s_MIN_BATCH, %s_MAX_BATCH].", program->upper,
                       program->upper);
    vf_text_printf(text, " */\nint %s_run(%s", program->stem, has_batch ? "int64_t batch, " : "");
    vf_text_string(text, has_batch
        ? "const void *weights, void *arena, const void *const *in,\n"
          "              void *const *out);\n\n"
        : "const void *weights, void *arena, const void *const *in, void *const *out);\n\n");
}

void vf_emit_model_h(const VfEmitProgram *program, VfText *text)
{
    const char *upper = program->upper;
    vf_emit_front_matter(program, "A compiled model.", text);
    vf_text_printf(text, "#ifndef %s_H\n#define %s_H\n\n#include \"executor.h\"\n\n", upper, upper);
    print_batch(program, text);
    print_indexes(program, false, text);
    print_indexes(program, true, text);
    print_sizes(program, text);
    if (program->weights.bytes > 0 && !vf_emit_has_weights_file(program))
        vf_text_printf(text, "extern const uint32_t %s_weights[];\n\n", program->stem);
    print_function(program, text);
    vf_text_printf(text, "/* The same with all that main.c needs to know. */\n"
                   "extern const Executor %s;\n\n#endif\n", program->stem);
}
