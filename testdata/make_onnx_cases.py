#!/usr/bin/env python3
"""Make the small ONNX files of testdata/onnx.

    python3 make_onnx_cases.py FOLDER

Writes the wire format directly (field numbers as in converter/onnx/onnx.proto), because the
cases hold what no library writes: unknown fields, names with any byte, several spellings of one
tensor. Needs nothing but Python 3.

  full.onnx       IR 13 with every kind of field, in the order in which vitfold writes them, so
                  that export gives the same bytes
  shuffled.onnx   the same model with its fields in another order
  encodings.onnx  each dtype twice: NAME_typed in its data field, NAME_raw as raw data
  ir3.onnx        IR 3: initializers listed as inputs
  default.onnx    IR 8: an input with an initializer as its default
  loop.onnx       nested subgraphs that use values of the graphs around them
  plain.onnx      a Gemm and a Relu: the smallest model that does something
  patches.onnx    BatchNormalization and a Conv of 2 x 2 patches on an image of any size from 2 x 2
                  on: no size assumed for the open ones need fit
  faults.onnx     one of each fault that `vitfold check` looks for, all in one graph
  outside_*.onnx  a Relu of x plus four floats of external data: good.bin (fine), dotdot and
                  absolute (paths that leave the folder), link and hard (names that a test makes
                  links), offset, length, shape and large (ranges that overflow or do not fit)
"""
import os
import random
import struct
import sys


def varint(n):
    n &= (1 << 64) - 1
    out = bytearray()
    while n >= 0x80:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def tag(field, wire):
    return varint(field << 3 | wire)


def num(field, n):
    return tag(field, 0) + varint(n)


def f32(field, x):
    return tag(field, 5) + struct.pack("<f", x)


def text(field, b):
    b = b.encode() if isinstance(b, str) else b
    return tag(field, 2) + varint(len(b)) + b


class Msg:
    """A message as a list of fields: (number, bytes of the field)."""

    def __init__(self, *fields):
        self.fields = list(fields)

    def bytes(self, order=None):
        fields = list(self.fields)
        if order is not None:
            fields = order(fields)
        return b"".join(f if isinstance(f, bytes) else f.field(order) for f in fields)


class Sub:
    """A nested message as a field; one that is carried as bytes keeps its order."""

    def __init__(self, number, message, is_carried=False):
        self.number, self.message, self.is_carried = number, message, is_carried

    def field(self, order):
        return text(self.number, self.message.bytes(None if self.is_carried else order))


def sub(number, *fields):
    return Sub(number, Msg(*fields))


def carried(number, *fields):
    return Sub(number, Msg(*fields), True)


def meta(field, key, value):
    return carried(field, text(1, key), text(2, value))


def dim(n):
    return sub(1, num(1, n)) if isinstance(n, int) else sub(1, text(2, n)) if n else sub(1)


def tensor_type(dtype, dims=None):
    shape = [] if dims is None else [sub(2, *[dim(d) for d in dims])]
    return sub(1, num(1, dtype), *shape)


def value_info(field, name, dtype, dims, *more):
    return sub(field, text(1, name), *more, carried(2, tensor_type(dtype, dims)))


def tensor(field, dtype, dims, raw, *more, name=None):
    named = [] if name is None else [text(8, name)]
    return sub(field, *[num(1, d) for d in dims], num(2, dtype), *named, text(9, raw), *more)


def attr(name, kind, *fields, doc=None, ref=None, raw=()):
    tail = ([text(13, doc)] if doc else []) + [num(20, kind)] + ([text(21, ref)] if ref else [])
    return sub(5, text(1, name), *fields, *tail, *raw)


def node(op, inputs, outputs, *attrs, name="", domain="", more=(), field=1):
    fields = [text(1, i) for i in inputs] + [text(2, o) for o in outputs]
    fields += [text(3, name)] if name else []
    fields += [text(4, op), *attrs]
    fields += [text(7, domain)] if domain and not more else []
    return sub(field, *fields, *more)


def constant(out, attribute, **more):
    return node("Constant", [], [out], attribute, **more)


def opset(field, domain, version):
    return sub(field, text(1, domain), num(2, version))


def floats(*x):
    return struct.pack(f"<{len(x)}f", *x)


def ints(*x):
    return struct.pack(f"<{len(x)}q", *x)


FLOAT, INT64, BOOL, STRING = 1, 7, 9, 8
ODD = b"odd\x00name \xff\xfe\n"  # any byte may be in a name


def unknown(number=1000):
    return [text(number, "kept"), num(number + 1, 7), tag(number + 2, 1) + bytes(8),
            tag(number + 3, 5) + bytes(4)]


def branch(name, out, shift):
    return Msg(constant("c" + out, attr("value_float", 1, f32(2, shift)), name=f"shift {out}"),
               node("Add", [ODD, "c" + out], [out], name=f"add {out}"), text(2, name),
               text(10, "a branch"), value_info(12, out, FLOAT, ["batch", 4]))


def sparse(field, name):
    return carried(field, sub(1, num(1, 1), num(2, FLOAT), text(8, name), text(9, floats(2.5))),
               sub(2, num(1, 1), num(2, INT64), text(9, ints(3))), num(3, 4))


def full_nodes():
    every = [attr("f", 1, f32(2, 0.5), doc="a float"), attr("i", 2, num(3, -3)),
             attr("s", 3, text(4, b"\x00\xff")),
             attr("t", 4, tensor(5, FLOAT, [2], floats(1, 2), text(8, "inner"), text(12, "doc"),
                                 meta(16, "k", "v"), *unknown())),
             attr("fs", 6, f32(7, 1.5), f32(7, -0.0)), attr("is", 7, num(8, 1), num(8, -1)),
             attr("ss", 8, text(9, "a"), text(9, b"")),
             attr("ts", 9, tensor(10, INT64, [1], ints(9)), tensor(10, INT64, [0], b"")),
             attr("empty", 7),
             attr("sp", 11, raw=[sparse(22, "sp")]), attr("sps", 12, raw=[sparse(23, "sp")]),
             attr("tp", 13, raw=[carried(14, tensor_type(FLOAT, [2, "n"]))]),
             attr("tps", 14, raw=[carried(15, sub(4, sub(1, tensor_type(FLOAT))))]),
             attr("u", 2, num(3, 1), raw=unknown())]
    device = carried(10, text(1, "gpus"), sub(2, text(1, "x"), num(2, 0), num(2, 1),
                 sub(3, num(1, -1), num(2, 0)), sub(4, num(1, 0), sub(2, num(1, 2), num(3, 2)))),
                 num(3, 1))
    return [
        constant("c1", attr("value", 4, tensor(5, FLOAT, [], floats(3), text(8, "c1"))), name="c"),
        constant("c2", attr("value_int", 2, num(3, 5))),
        constant("c3", attr("value_ints", 7, num(8, 1), num(8, 2))),
        constant("c4", attr("value_floats", 6, f32(7, 0.25)), more=[
            text(6, "documented"), meta(9, "from", "here"), *unknown()]),
        constant("c5", attr("value_string", 3, text(4, "stays a node"))),
        node("Relu", ["x"], [ODD], name=ODD),
        node("Mystery", ["x", "", ODD, ""], ["m1", "", "m2"], *every, name="mystery", more=[
            text(6, "of an unknown domain"), text(7, "com.example"), text(8, "v2"),
            meta(9, "k1", "v1"), meta(9, "k2", b"\xff"), device, *unknown()]),
        node("If", ["flag"], ["y"],
             attr("then_branch", 5, Sub(6, branch("then", "yt", 1.0))),
             attr("else_branch", 5, Sub(6, branch("else", "ye", 2.0))), name="if"),
        node("Twice", ["y", "sparse"], ["z"], attr("by", 1, f32(2, 2.0)), domain="local"),
    ]


def full_values():
    batch = sub(1, text(2, "batch"), text(3, "DATA_BATCH"))
    denoted = carried(2, sub(1, num(1, FLOAT), sub(2, batch, dim(4))), text(6, "IMAGE"))
    string_map = carried(2, sub(5, num(1, 8), sub(2, tensor_type(FLOAT, [None]))))
    return [
        text(2, "full"),
        tensor(5, FLOAT, [2, 2], floats(1, 2, 3, 4), text(12, "weights"), meta(16, "a", "b"),
               *unknown(), name="w"),
        sub(5, num(1, 2), num(2, STRING), text(6, "one"), text(6, b"\xff\x00"), text(8, "words")),
        tensor(5, INT64, [0], b"", name="none"),
        sparse(15, "sparse"),
        text(10, "graph doc"),
        sub(11, text(1, "x"), text(3, "input doc"), meta(4, "m", "n"), denoted, *unknown()),
        value_info(11, "flag", BOOL, []),
        sub(11, text(1, "map"), string_map),
        sub(11, text(1, "seq"), carried(2, sub(4, sub(1, tensor_type(FLOAT, ["s"]))))),
        sub(11, text(1, "maybe"), carried(2, sub(9, sub(1, tensor_type(FLOAT))))),
        sub(11, text(1, "untyped")),
        value_info(12, "z", FLOAT, ["batch", 4], text(3, "output doc")),
        sub(12, text(1, "m1"), *unknown()),
        value_info(13, "w", FLOAT, [2, 2]),
        value_info(13, ODD, FLOAT, ["batch", 4]),
        value_info(13, "y", FLOAT, [None, 4], text(3, "between")),
        meta(16, "graph", "meta"),
        carried(14, text(1, "w"), meta(2, "SCALE_TENSOR", "w_scale")),
        carried(13, text(1, "of nothing"), sub(2, tensor_type(FLOAT, [1]))),
        *unknown(),
    ]


def full():
    twice = sub(25, text(1, "Twice"), text(4, "a"), text(4, "b"), text(5, "c"), text(6, "by"),
                node("Constant", [], ["k"], attr("value_int", 2, ref="by"), field=7),
                node("Mul", ["a", "k"], ["ab"], field=7),
                node("Add", ["ab", "b"], ["c"], field=7),
                text(8, "function doc"), opset(9, "", 18), text(10, "local"),
                sub(11, text(1, "scale"), f32(2, 1.0), num(20, 1)),
                value_info(12, "ab", FLOAT, ["n"]), text(13, "second"), meta(14, "f", "g"),
                *unknown())
    training = carried(20, sub(1, text(2, "init"), tensor(5, FLOAT, [1], floats(1), name="q")),
                   meta(3, "w", "q"))
    return Msg(num(1, 13), text(2, "maker"), text(3, "1.0"), text(4, "example.com"), num(5, 42),
               text(6, "model doc"), Sub(7, Msg(*full_nodes(), *full_values())),
               opset(8, "", 18), opset(8, "com.example", 3), opset(8, "local", 1), twice,
               meta(14, "key", "value"), meta(14, ODD, b""), training,
               carried(26, text(1, "gpus"), num(2, 2), text(3, "gpu0"), text(3, "gpu1")),
               *unknown())


def shuffled(fields):
    """Another order that means the same. Fields that are carried as bytes keep theirs."""
    def key(field):
        if isinstance(field, Sub) and field.is_carried:
            return 0
        number = field.number if isinstance(field, Sub) else read_number(field)
        return 0 if number in (8, 10) or number >= 12 else 12 - number
    return sorted(fields, key=key)


def read_number(field):
    n = shift = 0
    for byte in field:
        n |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return n >> 3


def packed(field, body):
    return tag(field, 2) + varint(len(body)) + body


# dtype: name, number, data field, how a number is written, raw bytes of four values, the numbers
def encodings():
    rnd = random.Random(5)
    rows = []

    def row(name, dtype, field, numbers, raw, dims=(4,)):
        rows.append((name, dtype, field, numbers, raw, dims))

    single = [rnd.uniform(-9, 9) for _ in range(8)]
    row("f32", 1, 4, single[:4], struct.pack("<4f", *single[:4]))
    row("c64", 14, 4, single, struct.pack("<8f", *single))
    row("f64", 11, 10, single[:4], struct.pack("<4d", *single[:4]))
    row("c128", 15, 10, single, struct.pack("<8d", *single))
    for name, dtype, code in (("i8", 3, "b"), ("i16", 5, "h"), ("i32", 6, "i")):
        bits = 8 * struct.calcsize(code)
        values = [-(1 << bits - 1), -1, 0, (1 << bits - 1) - 1]
        row(name, dtype, 5, values, struct.pack(f"<4{code}", *values))
    for name, dtype, code in (("u8", 2, "B"), ("u16", 4, "H"), ("f16", 10, "H"), ("bf16", 16, "H"),
                              ("f8e4m3fn", 17, "B"), ("f8e4m3fnuz", 18, "B"), ("f8e5m2", 19, "B"),
                              ("f8e5m2fnuz", 20, "B"), ("f8e8m0", 24, "B")):
        values = [0, 1, 77, (1 << 8 * struct.calcsize(code)) - 1]
        row(name, dtype, 5, values, struct.pack(f"<4{code}", *values))
    row("bool", 9, 5, [0, 1, 1, 0], bytes([0, 1, 1, 0]))
    for name, dtype, count in (("u4", 21, 5), ("i4", 22, 5), ("f4e2m1", 23, 5), ("u2", 25, 9),
                               ("i2", 26, 9)):
        row(name, dtype, 5, [0x21, 0xF3, 0x01], bytes([0x21, 0xF3, 0x01]), (count,))
    row("i64", 7, 7, [-(1 << 63), -1, 0, (1 << 63) - 1], ints(-(1 << 63), -1, 0, (1 << 63) - 1))
    row("u64", 13, 11, [0, 1, 2, (1 << 64) - 1], struct.pack("<4Q", 0, 1, 2, (1 << 64) - 1))
    row("u32", 12, 11, [0, 1, 2, (1 << 32) - 1], struct.pack("<4I", 0, 1, 2, (1 << 32) - 1))
    row("scalar", 1, 4, [2.5], floats(2.5), ())
    row("empty", 6, 5, [], b"", (0, 3))
    return rows


def one(field, x):
    if field == 4:
        return struct.pack("<f", x)
    return struct.pack("<d", x) if field == 10 else varint(x)


def spelled(name, dtype, field, numbers, dims, way):
    """A tensor in its data field: packed, unpacked, or both one after the other."""
    wire = {4: 5, 10: 1}.get(field, 0)
    body = [one(field, x) for x in numbers]
    half = len(body) // 2 if way == "mixed" else len(body) if way == "packed" else 0
    data = [packed(field, b"".join(body[:half]))] if half else []
    data += [tag(field, wire) + b for b in body[half:]]
    return sub(5, *[num(1, d) for d in dims], num(2, dtype), text(8, f"{name}_{way}"), *data)


def encodings_model():
    inits = []
    for name, dtype, field, numbers, raw, dims in encodings():
        inits.append(tensor(5, dtype, dims, raw, name=f"{name}_raw"))
        inits += [spelled(name, dtype, field, numbers, dims, way)
                  for way in ("packed", "unpacked", "mixed")]
    return Msg(num(1, 13), opset(8, "", 25), sub(
        7, node("Relu", ["x"], ["y"]), text(2, "encodings"), *inits,
        value_info(11, "x", FLOAT, [1]), value_info(12, "y", FLOAT, [1])))


def small_model(ir, inputs):
    return Msg(num(1, ir), text(2, "maker"), sub(
        7, node("Gemm", ["x", "w", "b"], ["h"], name="gemm"), node("Relu", ["h"], ["y"]),
        text(2, "small"), tensor(5, FLOAT, [2, 2], floats(1, 2, 3, 4), name="w"),
        tensor(5, FLOAT, [2], floats(5, 6), name="b"), value_info(11, "x", FLOAT, ["n", 2]),
        *inputs, value_info(12, "y", FLOAT, ["n", 2])), opset(8, "", 9))


def patches_model():
    names = ["scale", "shift", "mean", "var"]
    stride, image = [num(8, 2), num(8, 2)], ["n", 1, "h", "w"]
    return Msg(num(1, 8), sub(
        7, node("BatchNormalization", ["x", *names], ["z"], name="bn"),
        node("Conv", ["z", "w"], ["y"], attr("strides", 7, *stride), name="patch"),
        text(2, "patches"), tensor(5, FLOAT, [1, 1, 2, 2], floats(1, 2, 3, 4), name="w"),
        *[tensor(5, FLOAT, [1], floats(i + 1), name=name) for i, name in enumerate(names)],
        value_info(11, "x", FLOAT, image), value_info(12, "y", FLOAT, ["n", 1, "a", "b"])),
        opset(8, "", 17))


def faults_model():
    nodes = [
        node("Relu", ["late"], ["early"], name="unsorted"), node("Neg", ["x"], ["late"]),
        node("Neg", ["x"], ["twice"]), node("Abs", ["x"], ["twice"], name="second"),
        node("Neg", ["nowhere"], ["d"], name="dangling"),
        node("Thing", ["x"], ["t"], name="stranger", domain="my.domain"),
        node("Add", ["x"], ["a"], name="arity"),
        node("Softmax", ["x"], ["s"], attr("axis", 1, f32(2, 1.5)), name="typed"),
        node("Add", ["x", "five"], ["sh"], name="shapes"),
        node("Neg", ["last"], ["first"], name="head"), node("Abs", ["first"], ["mid"], name="body"),
        node("Neg", ["mid"], ["last"], name="tail"), node("Gelu", ["x"], ["g"], name="new"),
    ]
    return Msg(num(1, 8), sub(
        7, *nodes, text(2, "faults"), tensor(5, FLOAT, [5], floats(0, 0, 0, 0, 0), name="five"),
        tensor(5, FLOAT, [4], floats(0, 0, 0), name="short"), value_info(11, "x", FLOAT, [2, 3]),
        value_info(12, "early", FLOAT, None), value_info(12, "lost", FLOAT, None)),
        opset(8, "", 17))


def loop_model():
    inner = Msg(node("Add", ["outer", "deep"], ["s"]), node("Mul", ["s", "w"], ["r"]),
                text(2, "inner"), tensor(5, FLOAT, [1], floats(2), name="deep"),
                value_info(12, "r", FLOAT, [1]))
    body = Msg(node("Identity", ["going"], ["on"]), node("Add", ["carried", "x"], ["outer"]),
               node("If", ["on"], ["next"], attr("then_branch", 5, Sub(6, inner)),
                    attr("else_branch", 5, Sub(6, inner))),
               text(2, "body"), sub(11, text(1, "step")), sub(11, text(1, "going")),
               sub(11, text(1, "carried")), sub(12, text(1, "on")), sub(12, text(1, "next")))
    return Msg(num(1, 8), sub(
        7, node("Loop", ["n", "", "x"], ["y"], attr("body", 5, Sub(6, body)), name="loop"),
        text(2, "loop"), tensor(5, FLOAT, [1], floats(3), name="w"),
        tensor(5, INT64, [], ints(4), name="n"), value_info(11, "x", FLOAT, [1]),
        value_info(12, "y", FLOAT, [1])), opset(8, "", 17))


def outside(location, *more, dims=(4,)):
    entries = [("location", location), *more]
    weights = sub(5, *[num(1, d) for d in dims], num(2, FLOAT), text(8, "w"),
                  *[meta(13, key, value) for key, value in entries], num(14, 1))
    return Msg(num(1, 8), sub(
        7, node("Add", ["x", "w"], ["s"]), node("Relu", ["s"], ["y"]), text(2, "outside"), weights,
        value_info(11, "x", FLOAT, [4]), value_info(12, "y", FLOAT, [4])), opset(8, "", 17))


OUTSIDE = {
    "good": outside("good.bin", ("offset", "16"), ("length", "16")),
    "dotdot": outside("../good.bin"),
    "absolute": outside("/tmp/good.bin"),
    "link": outside("link.bin"),
    "hard": outside("hard.bin"),
    "offset": outside("good.bin", ("offset", str((1 << 64) - 8))),
    "length": outside("good.bin", ("length", "64")),
    "shape": outside("good.bin", dims=(1 << 33, 1 << 33)),
    "large": outside("good.bin", dims=(1 << 40,)),
}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    w, b = value_info(11, "w", FLOAT, [2, 2]), value_info(11, "b", FLOAT, [2], text(3, "bias"))
    cases = {
        "full": full().bytes(), "shuffled": full().bytes(shuffled),
        "encodings": encodings_model().bytes(), "loop": loop_model().bytes(),
        "ir3": small_model(3, [w, b]).bytes(), "default": small_model(8, [w]).bytes(),
        "plain": small_model(8, []).bytes(), "patches": patches_model().bytes(),
        "faults": faults_model().bytes(),
    }
    cases.update({f"outside_{name}": model.bytes() for name, model in OUTSIDE.items()})
    os.makedirs(sys.argv[1], exist_ok=True)
    for name, data in cases.items():
        with open(os.path.join(sys.argv[1], name + ".onnx"), "wb") as f:
            f.write(data)


if __name__ == "__main__":
    main()
