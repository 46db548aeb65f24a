"""Hold insert-spa against its definition on models with softmax attention.

    spa_reference.py VITFOLD MODELS PREFIX...

The reference is made of the original graph: each Softmax reads logits + tau B and its result is
multiplied by the rows of D^tau, with B and D of a numpy implementation by dense matrices. Which
kernel, grid and layer a site has is read from the report; the target is found again from the mean
correlation 0.5. Models with sites the reference cannot put in place (fused operators, attention
without a softmax node) are left out and counted.
"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

FLOOR = 1e-12
TOLERANCE = 1e-4  # of the output range
NOTE = re.compile(
    r"kernel (\S+), (\d+) tokens, grid (\d+)x(\d+), prefix (\d+), layer (\d+) of (\d+), "
    r"target (\S+), tau (\S+?);"
)
PIPELINES = (
    "insert-spa:tau=1,max-tokens=64",
    "insert-spa:tau=0.5,max-tokens=64",
    "insert-spa:kernel=s,tau=1",
    "insert-spa:kernel=u,tau=1",
    "insert-spa:kernel=u-causal,tau=1,max-tokens=64",
)


# --- kernels ---


def power(sigma, exponent):
    values, vectors = np.linalg.eigh(sigma)
    return (vectors * values**exponent) @ vectors.T


def gamma_of(last, depth, layer):
    return -0.5 * np.log1p(-((-np.expm1(-2 * last)) ** (layer / depth)))


def laplacian(height, width, prefix):
    n = height * width + prefix
    weight = np.zeros((n, n))
    row, column = np.divmod(np.arange(height * width), width)
    near = abs(row[:, None] - row) + abs(column[:, None] - column) == 1
    weight[prefix:, prefix:] = near
    weight[:prefix, prefix:] = weight[prefix:, :prefix] = (height * width) ** -0.5
    return np.diag(weight.sum(1)) - weight


def sigma_of(kernel, tokens, grid, prefix, target, depth, layer):
    """The kernel after a layer; of r without its diagonal made 1."""
    if layer == 0:
        return np.eye(tokens)
    if kernel in ("u", "u-causal"):
        rho = 1 - (1 - target) ** (layer / depth)
        return (1 - rho) * np.eye(tokens) + rho
    gamma = gamma_of(target, depth, layer)
    if kernel == "r":
        level = np.expm1(-gamma) ** 2 / np.exp(-gamma)
        inverse = np.linalg.inv(laplacian(*grid, prefix) + level * np.eye(tokens))
        return inverse * tokens / np.trace(inverse)
    at = np.arange(tokens)
    far = abs(at[:, None] - at)
    if kernel == "g":
        row, column = np.divmod(at, grid[1])
        far = abs(row[:, None] - row) + abs(column[:, None] - column)
    return np.exp(-gamma * far)


def unit(sigma):
    scale = np.diag(sigma) ** -0.5
    return sigma * scale[:, None] * scale


def find_target(kernel, tokens, grid, prefix):
    if kernel in ("u", "u-causal"):
        return 0.5
    low, high = np.log(1e-6), np.log(100)
    for _ in range(60):
        middle = (low + high) / 2
        sigma = unit(sigma_of(kernel, tokens, grid, prefix, np.exp(middle), 1, 1))
        mean = (sigma.sum() - tokens) / (tokens * (tokens - 1))
        low, high = (middle, high) if mean > 0.5 else (low, middle)
    return np.exp((low + high) / 2)


def bias_and_rows(kernel, tokens, grid, prefix, target, depth, layer):
    now, last = (sigma_of(kernel, tokens, grid, prefix, target, depth, l)
                 for l in (layer, layer - 1))
    if kernel.endswith("causal"):
        lower = np.linalg.cholesky(now) @ np.linalg.inv(np.linalg.cholesky(last))
        A, seen = np.tril(lower), np.tril(np.ones((tokens, tokens), bool))
    else:
        A, seen = power(now, 0.5) @ power(last, -0.5), np.ones((tokens, tokens), bool)
    if kernel == "r":
        A = A * np.diag(now)[:, None] ** -0.5 * np.diag(last) ** 0.5
    A = np.where(seen, np.maximum(A, FLOOR * A.max(1, keepdims=True)), 0)
    rows = A.sum(1)
    return np.log(np.where(seen, A, 1) / np.where(seen, rows[:, None], 1)), rows


# --- models ---


def session_of(model):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model.SerializeToString(), options)


def run(model, inputs):
    session = session_of(model)
    names = [o.name for o in session.get_outputs()]
    return dict(zip(names, session.run(None, {i.name: inputs[i.name]
                                              for i in session.get_inputs()})))


def convert(vitfold, path, passes, folder):
    """Outputs of the rewritten model, its edits, and how many sites were refused."""
    model, report, out = (os.path.join(folder, f) for f in ("m.onnx", "m.json", "m.npz"))
    inputs = path.replace(".onnx", ".inputs.npz")
    call = lambda *words: subprocess.run([vitfold, *words], check=True, capture_output=True)
    call("convert", path, model, "-p", passes, "--report=" + report)
    call("run", model, "--inputs", inputs, "--outputs", out)
    with open(report) as file:
        found = json.load(file)
    return dict(np.load(out)), [e for e in found["edits"] if e["pass"] == "insert-spa"]


def shapes_of(model, softmaxes, inputs):
    """Shape of each softmax's result in a run."""
    probe = onnx.ModelProto()
    probe.CopyFrom(model)
    del probe.graph.output[:]
    for node in softmaxes.values():
        probe.graph.output.append(helper.make_empty_tensor_value_info(node.output[0]))
    found = run(probe, inputs)
    return {name: found[node.output[0]].shape for name, node in softmaxes.items()}


def put_in_place(model, edits, inputs):
    """Rewrites `model`; False where a site is no Softmax over the last of two token axes."""
    softmaxes = {n.name: n for n in model.graph.node if n.op_type == "Softmax" and n.name}
    softmaxes = {e["site"]: softmaxes[e["site"]] for e in edits if e["site"] in softmaxes}
    if len(softmaxes) < len(edits):
        return False
    shape = shapes_of(model, softmaxes, inputs)
    for at, edit in enumerate(edits):
        found = NOTE.match(edit["note"])
        kernel, tokens, height, width, prefix, layer, depth = (
            found[1], *(int(found[i]) for i in range(2, 8)))
        n, node = shape[edit["site"]][-1], softmaxes[edit["site"]]
        if shape[edit["site"]][-2] != n or n > tokens:
            return False
        grid = (height, width)
        target = find_target(kernel, tokens, grid, prefix)
        assert abs(target / float(found[8]) - 1) < 1e-4, (target, edit["note"])
        bias, rows = bias_and_rows(kernel, tokens, grid, prefix, target, depth, layer)
        change(model.graph, node, f"reference{at}", float(found[9]) * bias[:n, :n],
               rows[:n, None] ** float(found[9]))
    return True


def change(graph, softmax, name, bias, rows):
    """What reads the softmax reads its rows scaled; a graph output of it stays."""
    for what, value in (("bias", bias), ("rows", rows)):
        graph.initializer.append(
            numpy_helper.from_array(value.astype(np.float32), f"{name}_{what}"))
    at, weights, scaled = list(graph.node).index(softmax), softmax.output[0], f"{name}_scaled"
    for node in graph.node:
        for i, read in enumerate(node.input):
            if read == weights:
                node.input[i] = scaled
    add = helper.make_node("Add", [softmax.input[0], f"{name}_bias"], [f"{name}_logits"])
    softmax.input[0] = f"{name}_logits"
    graph.node.insert(at + 1, helper.make_node("Mul", [weights, f"{name}_rows"], [scaled]))
    graph.node.insert(at, add)


def distance(vitfold, path, passes, folder):
    """Largest difference in parts of the output range; None where there is no reference."""
    model, inputs = onnx.load(path), np.load(path.replace(".onnx", ".inputs.npz"))
    got, edits = convert(vitfold, path, passes, folder)
    if not edits or not put_in_place(model, edits, inputs):
        return None
    want = run(model, inputs)
    return max(np.abs(got[n] - w).max() / max(np.ptp(w), 1e-9) for n, w in want.items())


def main(vitfold, models, *prefixes):
    n_equal = n_out = n_far = 0
    with tempfile.TemporaryDirectory() as folder:
        found = [glob.glob(os.path.join(models, prefix + "*.onnx")) for prefix in prefixes]
        for path in sorted(sum(found, [])):
            for passes in PIPELINES:
                far = distance(vitfold, path, passes, folder)
                n_out += far is None
                n_equal += far is not None and far <= TOLERANCE
                if far is not None and not far <= TOLERANCE:
                    n_far += 1
                    print(f"{path}: {passes}: {far:.2e} of the output range")
    print(f"{n_equal} equal, {n_far} far, {n_out} without a reference")
    return 0 if n_equal > 0 and n_far == 0 else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
