"""Models of any number of nodes, to see how time grows with it.

    python3 scale_models.py KIND N OUT.onnx

writes a model of exactly N nodes. KIND is one of
  blocks  a vision transformer as PyTorch exports it, narrow and deep: decomposed norms and GELU,
          shapes computed from an open batch, RepBN in front of the MLP, Identity and dead nodes;
          every pass of the default pipeline has work in each block
  chain   Add, Relu and MatMul, one behind the other: nothing to change
  wide    branches that all read one input and one weight and meet in one Concat; every other one
          repeats its neighbour
"""
import os
import random
import struct
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../testdata"))
from make_onnx_cases import (FLOAT, INT64, Msg, attr, f32, floats, ints, node, num, opset, sub,
                             tensor, text, value_info)

TOKENS, WIDTH, HEADS = 4, 16, 2


def ints_attr(name, *values):
    return attr(name, 7, *[num(8, v) for v in values])


def int_attr(name, value):
    return attr(name, 2, num(3, value))


def float_attr(name, value):
    return attr(name, 1, f32(2, value))


class Graph:
    """Nodes and weights in the order in which they are made."""

    def __init__(self):
        self.nodes, self.weights, self.n = [], [], 0
        self.random = random.Random(1)

    def put(self, op, inputs, *attrs, n_out=1):
        names = [f"{op}_{self.n}_{i}" for i in range(n_out)]
        self.nodes.append(node(op, inputs, names, *attrs, name=f"/{op}_{self.n}"))
        self.n += 1
        return names[0]

    def weight(self, *dims, most=0.3):
        count = 1
        for d in dims:
            count *= d
        name = f"w_{len(self.weights)}"
        values = [self.random.uniform(-most, most) for _ in range(count)]
        self.weights.append(tensor(5, FLOAT, dims, floats(*values), name=name))
        return name

    def positive(self, n):
        name = f"w_{len(self.weights)}"
        values = [self.random.uniform(0.5, 1.5) for _ in range(n)]
        self.weights.append(tensor(5, FLOAT, [n], floats(*values), name=name))
        return name

    def constant(self, dtype, raw, *dims):
        value = sub(5, *[num(1, d) for d in dims], num(2, dtype), text(9, raw))
        return self.put("Constant", [], attr("value", 4, text(5, value.message.bytes())))

    def number(self, x):
        return self.constant(FLOAT, struct.pack("<f", x))

    def integers(self, *values):
        return self.constant(INT64, ints(*values), len(values))

    def write(self, path, inputs, outputs):
        graph = sub(7, *self.nodes, text(2, "scale"), *self.weights, *inputs, *outputs)
        with open(path, "wb") as file:
            file.write(Msg(num(1, 9), graph, opset(8, "", 20)).bytes())


def layer_norm(g, x):
    mean = g.put("ReduceMean", [x, g.integers(-1)])
    centred = g.put("Sub", [x, mean])
    square = g.put("Pow", [centred, g.number(2)])
    spread = g.put("ReduceMean", [square, g.integers(-1)])
    root = g.put("Sqrt", [g.put("Add", [spread, g.number(1e-5)])])
    scaled = g.put("Mul", [g.put("Div", [centred, root]), g.positive(WIDTH)])
    return g.put("Add", [scaled, g.weight(WIDTH)])


def linear(g, x, n_in, n_out, most=0.3):
    product = g.put("MatMul", [x, g.weight(n_in, n_out, most=most)])
    return g.put("Add", [product, g.weight(n_out, most=most)])


def reshape(g, x, batch, *sizes):
    parts = [batch] + [g.integers(size) for size in sizes]
    return g.put("Reshape", [x, g.put("Concat", parts, int_attr("axis", 0))])


def attention(g, x):
    size = g.put("Gather", [g.put("Shape", [x]), g.constant(INT64, ints(0))], int_attr("axis", 0))
    batch = g.put("Unsqueeze", [size, g.integers(0)])
    packed = reshape(g, linear(g, x, WIDTH, 3 * WIDTH), batch, TOKENS, 3, HEADS, WIDTH // HEADS)
    packed = g.put("Transpose", [packed], ints_attr("perm", 2, 0, 3, 1, 4))
    q, k, v = (g.put("Gather", [packed, g.constant(INT64, ints(i))], int_attr("axis", 0))
               for i in range(3))
    scores = g.put("MatMul", [q, g.put("Transpose", [k], ints_attr("perm", 0, 1, 3, 2))])
    scores = g.put("Div", [scores, g.put("Sqrt", [g.number(WIDTH / HEADS)])])
    probs = g.put("Identity", [g.put("Softmax", [scores], int_attr("axis", 3))])
    heads = g.put("Transpose", [g.put("MatMul", [probs, v])], ints_attr("perm", 0, 2, 1, 3))
    return linear(g, reshape(g, heads, batch, TOKENS, WIDTH), WIDTH, WIDTH)


def rep_bn(g, x):
    turned = g.put("Transpose", [x], ints_attr("perm", 0, 2, 1))
    norm = g.put("BatchNormalization", [turned, g.positive(WIDTH), g.weight(WIDTH),
                                        g.weight(WIDTH), g.positive(WIDTH)])
    norm = g.put("Transpose", [norm], ints_attr("perm", 0, 2, 1))
    return g.put("Add", [norm, g.put("Mul", [x, g.weight(1)])])


def gelu(g, x):
    erf = g.put("Erf", [g.put("Div", [x, g.number(2 ** 0.5)])])
    product = g.put("Mul", [x, g.put("Add", [erf, g.number(1)])])
    return g.put("Mul", [product, g.number(0.5)])


def block(g, x):
    x = g.put("Add", [x, attention(g, layer_norm(g, x))])
    g.put("Relu", [x])  # nothing reads it
    inner = gelu(g, linear(g, rep_bn(g, x), WIDTH, 2 * WIDTH))
    # Small weights: a thousand blocks are not to overflow.
    last = linear(g, inner, 2 * WIDTH, WIDTH, most=0.02)
    return g.put("Add", [x, g.put("Identity", [last])])


def write_blocks(path, n):
    g, x = Graph(), "x"
    block(g, x)
    size, g = g.n, Graph()
    for _ in range(n // size):
        x = block(g, x)
    while g.n < n:
        x = g.put("Tanh", [x])
    dims = ["batch", TOKENS, WIDTH]
    g.write(path, [value_info(11, "x", FLOAT, dims)], [value_info(12, x, FLOAT, dims)])


def write_chain(path, n):
    g, x = Graph(), "x"
    for i in range(n):
        op = ("Add", "Relu", "MatMul")[i % 3]
        x = g.put(op, [x] if op == "Relu" else [x, g.weight(2, 2)])
    g.write(path, [value_info(11, "x", FLOAT, [2, 2])], [value_info(12, x, FLOAT, [2, 2])])


def write_wide(path, n):
    g, ends = Graph(), []
    shared, own = g.weight(2, 2), None
    for i in range((n - 1) // 2):
        own = g.weight(2) if i % 2 == 0 else own
        ends.append(g.put("Add", [g.put("MatMul", ["x", shared]), own]))
    while g.n < n - 1:
        g.put("Relu", ["x"])
    out = g.put("Concat", ends, int_attr("axis", 0))
    g.write(path, [value_info(11, "x", FLOAT, [2, 2])],
            [value_info(12, out, FLOAT, [2 * len(ends), 2])])


KINDS = {"blocks": write_blocks, "chain": write_chain, "wide": write_wide}


def main():
    kind, n, path = sys.argv[1:]
    KINDS[kind](path, int(n))


if __name__ == "__main__":
    main()
