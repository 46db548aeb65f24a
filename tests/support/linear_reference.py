"""Hold linearize-attention without a convolution against the quadratic form of its definition.

    linear_reference.py VITFOLD MODELS PREFIX OPTIONS

The reference is made of the original graph without the pass: between the two products of each
Softmax stands Relu on both operands, what masks keep, and the sum over the keys, in double. Models
with other sites than that (moved axes, refusals) are left out and counted. Every site that is
rewritten has to be told linear afterwards.
"""
import glob
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

EPS = 1e-6
MASK_LEVEL = -50
TOLERANCE = 1e-4  # of the output range


def constants(graph):
    found = {i.name: numpy_helper.to_array(i) for i in graph.initializer}
    for node in graph.node:
        for a in node.attribute:
            if node.op_type == "Constant" and a.name == "value":
                found[node.output[0]] = numpy_helper.to_array(a.t)
    return found


def score_product(softmax, made_by, const):
    """The MatMul above a Softmax, through scales and biases, and the nodes with masks between them;
    None where axes move."""
    name, masks = softmax.input[0], []
    while (node := made_by.get(name)) is not None:
        if node.op_type == "MatMul":
            return node, masks
        terms = node.input[1:] if node.op_type == "Where" else node.input
        fixed = [i for i in terms if i in const]
        if node.op_type not in ("Mul", "Div", "Add", "Cast", "Identity", "Where"):
            return None
        if node.op_type == "Add" and (not fixed or const[fixed[0]].min() <= MASK_LEVEL):
            masks.append(node)
        if node.op_type == "Where":
            if not (fixed and const[fixed[0]].max() <= MASK_LEVEL):
                return None
            masks.append(node)
        name = next(i for i in terms if i not in const)
    return None


def kept(node, at, const, graph):
    """Nodes that make `at` 1 where the mask that `node` puts on the scores keeps a key, else 0."""
    make = helper.make_node
    if node.op_type == "Where":
        is_filled = node.input[1] in const
        flags = [make("Not", [node.input[0]], [at + "_flags"])] if is_filled else []
        given = at + "_flags" if is_filled else node.input[0]
        return flags + [make("Cast", [given], [at], to=TensorProto.FLOAT)]
    mask = next((i for i in node.input if i in const), node.input[1])
    graph.initializer.append(numpy_helper.from_array(np.array(-100, np.float32), at + "_level"))
    return [
        make("Greater", [mask, at + "_level"], [at + "_flags"]),
        make("Cast", [at + "_flags"], [at], to=TensorProto.FLOAT),
    ]


def weights(graph, opset, at, product, masks, const, out):
    """Nodes that make the weights `out` from the operands of `product`."""
    name = lambda what: f"reference{at}_{what}"
    for what, value in (("eps", np.array(EPS)), ("axes", np.array([-1], np.int64))):
        graph.initializer.append(numpy_helper.from_array(value, name(what)))
    node = helper.make_node
    axes = {"axes": [-1]} if opset < 13 else {}
    summed = [name("double")] + ([name("axes")] if opset >= 13 else [])
    nodes = [
        node("Relu", [product.input[0]], [name("q")]),
        node("Relu", [product.input[1]], [name("k")]),
        node("MatMul", [name("q"), name("k")], [name("scores0")]),
    ]
    for i, mask in enumerate(masks):
        nodes += kept(mask, name(f"mask{i}"), const, graph)
        pair = [name(f"scores{i}"), name(f"mask{i}")]
        nodes.append(node("Mul", pair, [name(f"scores{i + 1}")]))
    return nodes + [
        node("Cast", [name(f"scores{len(masks)}")], [name("double")], to=TensorProto.DOUBLE),
        node("ReduceSum", summed, [name("sum")], keepdims=1, **axes),
        node("Add", [name("sum"), name("eps")], [name("below")]),
        node("Div", [name("double"), name("below")], [name("weights")]),
        node("Cast", [name("weights")], [out], to=TensorProto.FLOAT),
    ]


def make_reference(model):
    """Rewrites `model` and returns the number of sites; 0 where one is not understood."""
    graph, nodes, n = model.graph, [], 0
    opset = next(o.version for o in model.opset_import if o.domain in ("", "ai.onnx"))
    made_by, const = {o: node for node in graph.node for o in node.output}, constants(graph)
    for node in graph.node:
        if node.op_type != "Softmax":
            nodes.append(node)
            continue
        found = score_product(node, made_by, const)
        if found is None:
            return 0
        nodes += weights(graph, opset, n, *found, const, node.output[0])
        n += 1
    del graph.node[:]
    graph.node.extend(nodes)
    return n


def rewrite(vitfold, path, words, folder):
    """Outputs of the rewritten model by name, and the number of sites it rewrote."""
    model, report, out = (os.path.join(folder, f) for f in ("m.onnx", "m.json", "m.npz"))
    inputs = path.replace(".onnx", ".inputs.npz")
    run = lambda *words: subprocess.run([vitfold, *words], check=True, capture_output=True)
    run("convert", path, model, "-p", "linearize-attention:" + words, "--json=" + report)
    run("run", model, "--inputs", inputs, "--outputs", out)
    with open(report) as file:
        told = json.load(file)
    n = next(p["edits"] for p in told["passes"] if p["pass"] == "linearize-attention")
    if told["after"]["attention"]["linear"] != told["before"]["attention"]["linear"] + n:
        raise SystemExit(f"{path}: {n} sites rewritten, but not all are told linear afterwards")
    return dict(np.load(out)), n


def distance(vitfold, path, words, folder):
    """Largest difference in parts of the output range; None where there is no reference."""
    model = onnx.load(path)
    n_site = make_reference(model)
    if n_site == 0:
        return None
    got, n_edit = rewrite(vitfold, path, words, folder)
    if n_edit != n_site:
        return None
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    inputs = np.load(path.replace(".onnx", ".inputs.npz"))
    names = [o.name for o in session.get_outputs()]
    want = session.run(None, {i.name: inputs[i.name] for i in session.get_inputs()})
    return max(np.abs(got[n] - w).max() / max(np.ptp(w), 1e-9) for n, w in zip(names, want))


def main(vitfold, models, prefix, words):
    n_equal = n_out = n_far = 0
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted(glob.glob(os.path.join(models, prefix + "*.onnx"))):
            far = distance(vitfold, path, words, folder)
            n_out += far is None
            n_equal += far is not None and far <= TOLERANCE
            if far is not None and not far <= TOLERANCE:
                n_far += 1
                print(f"{path}: {far:.2e} of the output range")
    print(f"{words}: {n_equal} equal, {n_far} far, {n_out} without a reference")
    return 0 if n_equal > 0 and n_far == 0 else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
