"""Models for the test of report pages.

    python3 page_models.py HOSTILE.onnx LARGE.onnx LEFT.onnx

HOSTILE has names that are markup, scripts, or no text at all, on nodes that clean-up removes and on
nodes that stay. LARGE has 2,000 nodes that stay, layer_0 to layer_1999, and 400 that go. LEFT has layer
norms whose scale and shift no pass can fold, all for the same reason.
"""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../testdata"))
from make_onnx_cases import FLOAT, Msg, floats, node, num, opset, sub, tensor, text, value_info

NAMES = [b"</script><b>", b"</style><b>", b"<img src=x onerror=broken=1>", b"\xff\xfe", b"]]>",
         b"<!--", b"&amp;", b"\"'><b>", b"\x00\x01\x1b[31m", b"\xef\xbf\xbf\xef\xbf\xbe",
         b"\xe2\x80\xae\xd7\x90", b"n" * 5000, b"e1", b"find", b"javascript:broken=1", b"%s%n", b"\n"]


def write(path, nodes, weights, inputs, outputs):
    graph = sub(7, *nodes, text(2, "g"), *weights, *inputs, *outputs)
    with open(path, "wb") as file:
        file.write(Msg(num(1, 8), graph, opset(8, "", 17)).bytes())


def hostile(path):
    nodes, weights, inputs, outputs = [], [], [], []
    for i, name in enumerate(NAMES):
        nodes += [node("Identity", [b"in" + name], [b"same" + name], name=name),
                  node("Mul", [b"same" + name, b"w" + name], [b"made" + name], name=b"mul " + name),
                  node("Identity", [b"made" + name], [b"out" + name], name=b"last " + name)]
        weights.append(tensor(5, FLOAT, [2], floats(i + 0.5, -i), name=b"w" + name))
        inputs.append(value_info(11, b"in" + name, FLOAT, [2]))
        outputs.append(value_info(12, b"out" + name, FLOAT, [2]))
    write(path, nodes, weights, inputs, outputs)


def large(path):
    nodes, value = [], b"x"
    for i in range(2000):
        if i % 5 == 0:
            nodes.append(node("Identity", [value], [b"same_%d" % i], name=b"same_%d" % i))
            value = b"same_%d" % i
        op = ("Relu", "Sigmoid", "Tanh", "Neg", "Exp")[i % 5]
        nodes.append(node(op, [value], [b"v_%d" % i], name=b"layer_%d" % i))
        value = b"v_%d" % i
    write(path, nodes, [], [value_info(11, b"x", FLOAT, [2])], [value_info(12, value, FLOAT, [2])])


def left(path):
    nodes, value = [], b"x"
    for i in range(3):
        name = b"%d" % i
        nodes += [node("LayerNormalization", [value, b"scale", b"shift"], [b"norm" + name],
                       name=b"norm_" + name),
                  node("Relu", [value], [b"relu" + name], name=b"relu_" + name),
                  node("Neg", [b"norm" + name], [b"neg" + name], name=b"neg_" + name),
                  node("Add", [b"neg" + name, b"relu" + name], [b"sum" + name],
                       name=b"sum_" + name)]
        value = b"sum" + name
    weights = [tensor(5, FLOAT, [4], floats(1, 2, 3, 4), name=b"scale"),
               tensor(5, FLOAT, [4], floats(5, 6, 7, 8), name=b"shift")]
    write(path, nodes, weights, [value_info(11, b"x", FLOAT, [2, 4])],
          [value_info(12, value, FLOAT, [2, 4])])


hostile(sys.argv[1])
large(sys.argv[2])
left(sys.argv[3])
