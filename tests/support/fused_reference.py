"""Random models of one attention operator against ONNX Runtime, as they are and converted.

    python3 fused_reference.py VITFOLD [N [SEED]]

N models are made of each operator: ONNX Attention (opset 23 and 24), Attention, MultiHeadAttention
and GroupQueryAttention of com.microsoft, with the operands and attributes that ONNX Runtime's CPU
provider has and reads as the schema says. Each is run, and run again behind softmax-to-relu and
insert-spa, by both. Exit status 1 if two runs differ, or a run or a conversion fails.
"""
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

PASSES = ["softmax-to-relu", "softmax-to-relu:act=identity,L=valid", "insert-spa:tau=1"]
TOLERANCE = 2e-4  # of the largest output; masks of -10000 leave f32 scores three decimals


class Maker:
    """Draws shapes and operands; `feed` holds what was drawn, by operand name."""

    def __init__(self, random):
        self.random = random
        self.feed = {}

    def pick(self, *choices):
        return choices[self.random.integers(len(choices))]

    def floats(self, name, *shape):
        self.feed[name] = self.random.standard_normal(shape).astype(np.float32)

    def maybe_scale(self, attrs):
        if self.pick(0, 1):
            attrs["scale"] = 0.4

    def seen(self, name, batch, queries, keys, forms):
        """Integers that tell which keys are seen: lengths, flags of keys, flags of pairs."""
        form = self.pick(None, *forms)
        if form == "lengths":
            self.feed[name] = self.random.integers(1, keys + 1, (batch,)).astype(np.int32)
        elif form is not None:
            shape = (batch, keys) if form == "keys" else (batch, queries, keys)
            flags = self.random.integers(0, 2, shape)
            flags[..., 0] = 1
            self.feed[name] = flags.astype(np.int32)


def make_onnx(make):
    groups, batch, queries = make.pick(1, 2), make.pick(1, 2), make.pick(1, 3, 4)
    heads, width, width_v = groups * make.pick(1, 2), make.pick(2, 4), make.pick(2, 3)
    past, attrs = make.pick(0, 0, 2), {}
    keys = make.pick(queries, 5)
    if make.pick(0, 1):
        make.floats("q", batch, heads, queries, width)
        make.floats("k", batch, groups, keys, width)
        make.floats("v", batch, groups, keys, width_v)
    else:
        make.floats("q", batch, queries, heads * width)
        make.floats("k", batch, keys, groups * width)
        make.floats("v", batch, keys, groups * width_v)
        attrs = {"q_num_heads": heads, "kv_num_heads": groups}
    if past > 0:
        make.floats("past_k", batch, groups, past, width)
        make.floats("past_v", batch, groups, past, width_v)
    elif keys == queries:  # elsewhere ONNX Runtime counts from the last key, the schema does not
        attrs["is_causal"] = make.pick(0, 1)
    rank = make.pick(0, 2, 3, 4)
    if rank > 0:
        make.floats("mask", *(make.pick(1, batch), make.pick(1, heads), queries, keys + past)[4 - rank:])
        if make.pick(0, 1):
            make.feed["mask"] = make.feed["mask"] > -0.5
            make.feed["mask"][..., 0] = True
    if make.pick(0, 0, 1):
        attrs["softcap"] = 1.5
    make.maybe_scale(attrs)
    outputs = ["y", "k_all", "v_all"] if past > 0 or make.pick(0, 1) else ["y"]
    return "", "Attention", ["q", "k", "v", "mask", "past_k", "past_v"], attrs, outputs


def make_attention(make):
    batch, tokens, heads, width = make.pick(1, 2), make.pick(1, 3), make.pick(1, 2), make.pick(2, 4)
    past, attrs = make.pick(0, 0, 2), {"num_heads": heads, "unidirectional": make.pick(0, 1)}
    make.floats("x", batch, tokens, 5)
    make.floats("w", 5, 3 * heads * width)
    if make.pick(0, 1):
        make.floats("b", 3 * heads * width)
    if past > 0:
        make.floats("past", 2, batch, heads, past, width)
    elif make.pick(0, 1):
        make.floats("bias", 1, make.pick(1, heads), tokens, tokens)
    make.seen("seen", batch, tokens, tokens + past, ["lengths", "keys", "pairs"])
    make.maybe_scale(attrs)
    outputs = ["y", "all"] if past > 0 or make.pick(0, 1) else ["y"]
    return "com.microsoft", "Attention", ["x", "w", "b", "seen", "past", "bias"], attrs, outputs


def make_multi_head(make):
    batch, queries, heads, width = make.pick(1, 2), make.pick(1, 3), make.pick(1, 2), make.pick(2, 4)
    past, keys, attrs = make.pick(0, 0, 2), make.pick(queries, 4), {"num_heads": heads}
    make.floats("q", batch, queries, heads * width)
    make.floats("k", batch, keys, heads * width)
    make.floats("v", batch, keys, heads * width)
    if make.pick(0, 1):
        make.floats("b", 3 * heads * width)
    if past > 0:
        make.floats("past_k", batch, heads, past, width)
        make.floats("past_v", batch, heads, past, width)
    if make.pick(0, 1):
        make.floats("bias", make.pick(1, batch), make.pick(1, heads), queries, keys + past)
    if queries >= keys:
        attrs["unidirectional"] = make.pick(0, 1)
    make.seen("seen", batch, queries, keys + past, ["lengths", "keys", "pairs"])
    make.maybe_scale(attrs)
    names = ["q", "k", "v", "b", "seen", "bias", "past_k", "past_v"]
    outputs = ["y", "k_all", "v_all"] if past > 0 or make.pick(0, 1) else ["y"]
    return "com.microsoft", "MultiHeadAttention", names, attrs, outputs


def make_grouped(make):
    groups, batch, queries = make.pick(1, 2), make.pick(1, 2), make.pick(1, 3)
    heads, width, past = groups * make.pick(1, 2), 16, make.pick(0, 0, 4)
    attrs = {"num_heads": heads, "kv_num_heads": groups, "do_rotary": make.pick(0, 1),
             "rotary_interleaved": make.pick(0, 1)}
    if past > 0:
        queries = 1
    total = past + queries
    if make.pick(0, 1):
        make.floats("q", batch, queries, (heads + 2 * groups) * width)
    else:
        make.floats("q", batch, queries, heads * width)
        make.floats("k", batch, queries, groups * width)
        make.floats("v", batch, queries, groups * width)
    if past > 0:
        make.floats("past_k", batch, groups, past, width)
        make.floats("past_v", batch, groups, past, width)
    last = make.random.integers(1 if past > 0 else total - 1, total, (batch,))
    last[0] = total - 1
    make.feed["last"] = last.astype(np.int32)
    make.feed["total"] = np.array([total], np.int32)
    if attrs["do_rotary"]:
        angle = np.arange(8)[:, None] * 0.3 ** np.arange(width // 2)[None]
        make.feed["cos"], make.feed["sin"] = np.cos(angle, dtype="f4"), np.sin(angle, dtype="f4")
    if make.pick(0, 1):
        make.floats("bias", 1, make.pick(1, heads), queries, total)
    if make.pick(0, 0, 1):
        make.floats("sink", heads)
    if make.pick(0, 0, 1):
        attrs["local_window_size"] = 2
    if make.pick(0, 0, 1):
        attrs["softcap"] = 1.5
    make.maybe_scale(attrs)
    names = ["q", "k", "v", "past_k", "past_v", "last", "total", "cos", "sin", "", "bias", "sink"]
    return "com.microsoft", "GroupQueryAttention", names, attrs, ["y", "k_all", "v_all"]


def save_model(make, made, opset, path):
    domain, op, names, attrs, outputs = made
    operands = [name if name in make.feed else "" for name in names]
    while operands[-1] == "":
        operands.pop()
    node = helper.make_node(op, operands, outputs, domain=domain, **attrs)
    inputs = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
              for name, x in make.feed.items()]
    results = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    onnx.save(helper.make_model(helper.make_graph([node], op, inputs, results), ir_version=10,
                                opset_imports=opsets), path)


def compare_runs(vitfold, path, feed, folder):
    """The fault, or None."""
    inputs, outputs = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
    np.savez(inputs, **feed)
    done = subprocess.run([vitfold, "run", path, "--inputs", inputs, "--outputs", outputs, "-q"],
                          capture_output=True, text=True)
    if done.returncode != 0:
        return done.stderr.strip()
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    for output, want in zip(session.get_outputs(), session.run(None, feed)):
        got = np.load(outputs)[output.name]
        bound = TOLERANCE * max(1.0, float(np.abs(want).max(initial=0)))
        if got.shape != want.shape or not np.abs(got - want).max(initial=0) <= bound:
            return f"'{output.name}' differs from ONNX Runtime's"
    return None


def try_model(vitfold, make, made, opset, folder):
    """Faults as sentences."""
    path, converted = os.path.join(folder, "a.onnx"), os.path.join(folder, "b.onnx")
    save_model(make, made, opset, path)
    faults = [("run", compare_runs(vitfold, path, make.feed, folder))]
    for passes in PASSES:
        done = subprocess.run([vitfold, "convert", path, "-o", converted, "--passes", passes],
                              capture_output=True, text=True)
        faults.append((passes, done.stderr.strip() if done.returncode != 0 else
                       compare_runs(vitfold, converted, make.feed, folder)))
    return [f"{name}: {fault}" for name, fault in faults if fault is not None]


def main():
    vitfold, n = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10
    random = np.random.default_rng(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    n_fault = 0
    onnxruntime.set_default_logger_severity(4)
    with tempfile.TemporaryDirectory() as folder:
        for i in range(4 * n):
            make = Maker(random)
            made = (make_onnx, make_attention, make_multi_head, make_grouped)[i % 4](make)
            opset = 17 if made[0] else make.pick(23, 24)
            for fault in try_model(vitfold, make, made, opset, folder):
                shapes = {name: x.shape for name, x in make.feed.items()}
                print(f"{made[1]} {made[3]} {shapes}: {fault}")
                n_fault += 1
    print(f"{4 * n} models, {n_fault} faults")
    return 1 if n_fault > 0 else 0


if __name__ == "__main__":
    sys.exit(main())
