"""Models with many of one thing, to see how time grows with it.

    python3 breadth_models.py KIND N OUT.onnx

writes a model that is small but for N of what KIND says; without words it lists the kinds. All can
be run but for those of operators that nobody knows, and for two that are faulty.
"""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../testdata"))
from make_onnx_cases import (BOOL, FLOAT, INT64, STRING, Msg, attr, carried, floats, ints, meta,
                             node, num, opset, sub, tensor, tensor_type, text, value_info)

NODE, INITIALIZER, INPUT, OUTPUT, VALUE = 1, 5, 11, 12, 13


def model(path, nodes, inputs, outputs, weights=(), in_graph=(), in_model=(), domains=()):
    """Inputs and outputs are names of f32[2], or fields."""
    ends = [value_info(field, end, FLOAT, [2]) if isinstance(end, str) else end
            for field, names in ((INPUT, inputs), (OUTPUT, outputs)) for end in names]
    graph = sub(7, *nodes, text(2, "wide"), *weights, *ends, *in_graph)
    sets = [opset(8, "", 18), *(opset(8, domain, 1) for domain in domains)]
    with open(path, "wb") as file:
        file.write(Msg(num(1, 9), graph, *sets, *in_model).bytes())


def weight(name, *values):
    return tensor(INITIALIZER, FLOAT, [len(values)], floats(*values), name=name)


def integers(name, *values):
    return tensor(INITIALIZER, INT64, [len(values)], ints(*values), name=name)


def int_attr(name, value):
    return attr(name, 2, num(3, value))


def relu(i):
    return node("Relu", [f"v{i - 1}" if i else "x"], [f"v{i}"], name=f"n{i}")


def chain(n):
    return [relu(i) for i in range(n)]


def names(prefix, n):
    return [f"{prefix}{i}" for i in range(n)]


def concat(inputs, out="y"):
    return node("Concat", inputs, [out], int_attr("axis", 0))


def graph_attr(name, nodes, outputs, inputs=()):
    return attr(name, 5, sub(6, *nodes, text(2, name), *(sub(INPUT, text(1, i)) for i in inputs),
                             *(sub(OUTPUT, text(1, o)) for o in outputs)))


def condition(name="cond"):
    return value_info(INPUT, name, BOOL, [])


def write_inputs(path, n):
    model(path, [*chain(1)], ["x", *names("in", n)], ["v0"])


def write_outputs(path, n):
    model(path, chain(n), ["x"], names("v", n))


def write_nodes(path, n):
    model(path, chain(n), ["x"], [f"v{n - 1}"])


def write_weights(path, n):
    model(path, chain(1), ["x"], ["v0"], weights=[weight(f"w{i}", 1, 2) for i in range(n)])


def write_operands(path, n):
    model(path, [concat(names("w", n))], [], [value_info(OUTPUT, "y", FLOAT, [2 * n])],
          weights=[weight(f"w{i}", 1, 2) for i in range(n)])


def write_read(path, n):
    model(path, [concat(names("in", n))], names("in", n),
          [value_info(OUTPUT, "y", FLOAT, [2 * n])])


def write_sum(path, n):
    model(path, [node("Sum", ["x"] * n, ["y"])], ["x"], ["y"])


def write_results(path, n):
    model(path, [node("Split", ["x"], names("v", n), int_attr("axis", 0),
                      int_attr("num_outputs", n)),
                 concat(names("v", n)[::-1])],
          [value_info(INPUT, "x", FLOAT, [n])], [value_info(OUTPUT, "y", FLOAT, [n])])


def function(i, nodes, inputs=("a",), outputs=("b",)):
    return sub(25, text(1, f"f{i}"), *(text(4, a) for a in inputs), *(text(5, b) for b in outputs),
               *(node(*parts, field=7) for parts in nodes), opset(9, "", 18), text(10, "own"))


def write_functions(path, n):
    calls = [node(f"f{i}", [f"v{i - 1}" if i else "x"], [f"v{i}"], name=f"n{i}", domain="own")
             for i in range(n)]
    model(path, calls, ["x"], [f"v{n - 1}"], domains=["own"],
          in_model=[function(i, [("Relu", ["a"], ["b"])]) for i in range(n)])


def write_uncalled(path, n):
    model(path, chain(1), ["x"], ["v0"], domains=["own"],
          in_model=[function(i, [("Relu", ["a"], ["b"])]) for i in range(n)])


def write_infos(path, n):
    model(path, chain(n), ["x"], [f"v{n - 1}"],
          in_graph=[value_info(VALUE, f"v{i}", FLOAT, [2]) for i in range(n)])


def write_metadata(path, n):
    model(path, chain(1), ["x"], ["v0"],
          in_model=[meta(14, f"key{i}", f"value{i}") for i in range(n)],
          in_graph=[meta(16, f"key{i}", f"value{i}") for i in range(n)])


def write_opsets(path, n):
    model(path, chain(1), ["x"], ["v0"], domains=names("domain", n))


def write_attributes(path, n):
    attrs = [int_attr(f"a{i}", i) for i in range(n)]
    model(path, [node("Many", ["x"], ["y"], *attrs, name="n", domain="own")], ["x"], ["y"],
          domains=["own"])


def write_branches(path, n):
    nodes = []
    for i in range(n):
        sides = [graph_attr(side, [node(op, ["x"], [f"{side}{i}"], name=f"{side}_{i}")],
                            [f"{side}{i}"])
                 for side, op in (("then_branch", "Relu"), ("else_branch", "Neg"))]
        nodes.append(node("If", ["cond"], [f"v{i}"], *sides, name=f"n{i}"))
    model(path, nodes, ["x", condition()], [f"v{n - 1}"])


def write_graphs(path, n):
    """One node with many subgraphs."""
    attrs = [graph_attr(f"g{i}", [node("Relu", ["x"], [f"w{i}"])], [f"w{i}"]) for i in range(n)]
    model(path, [node("Many", ["x"], ["y"], *attrs, name="n", domain="own")], ["x"], ["y"],
          domains=["own"])


def write_items(path, n):
    model(path, [node("SequenceConstruct", names("w", n), ["s"]),
                 node("ConcatFromSequence", ["s"], ["y"], int_attr("axis", 0))],
          [], [value_info(OUTPUT, "y", FLOAT, [2 * n])],
          weights=[weight(f"w{i}", 1, 2) for i in range(n)])


def sequence_info(field, name):
    return sub(field, text(1, name), carried(2, sub(4, sub(1, tensor_type(FLOAT, [2])))))


def write_sequence(path, n):
    model(path, [node("SequenceConstruct", ["x"] * n, ["s"])], ["x"], [sequence_info(OUTPUT, "s")])


def write_inserts(path, n):
    nodes = [node("SequenceEmpty", [], ["s0"])]
    nodes += [node("SequenceInsert", [f"s{i}", "x"], [f"s{i + 1}"]) for i in range(n)]
    nodes.append(node("ConcatFromSequence", [f"s{n}"], ["y"], int_attr("axis", 0)))
    model(path, nodes, ["x"], [value_info(OUTPUT, "y", FLOAT, [2 * n])])


def write_taken(path, n):
    nodes = [node("SplitToSequence", ["x"], ["s"], int_attr("axis", 0))]
    nodes += [node("SequenceAt", ["s", f"i{i}"], [f"v{i}"]) for i in range(n)]
    model(path, [*nodes, concat(names("v", n))],
          [value_info(INPUT, "x", FLOAT, [n])], [value_info(OUTPUT, "y", FLOAT, [n])],
          weights=[tensor(INITIALIZER, INT64, [], ints(i), name=f"i{i}") for i in range(n)])


def write_symbols(path, n):
    model(path, chain(1), ["x", *(value_info(INPUT, f"in{i}", FLOAT, [f"d{i}"]) for i in range(n))],
          ["v0"])


def write_strings(path, n):
    words = sub(INITIALIZER, num(1, n), num(2, STRING), text(8, "w"),
                *(text(6, f"word{i}") for i in range(n)))
    model(path, [concat(["w", "w"])], [],
          [value_info(OUTPUT, "y", STRING, [2 * n])], weights=[words])


def write_states(path, n):
    body = [node("Identity", ["go"], ["go_on"])]
    body += [node("Relu", [f"a{i}"], [f"b{i}"]) for i in range(n)]
    loop = node("Loop", ["trips", "", *["x"] * n], names("y", n),
                graph_attr("body", body, ["go_on", *names("b", n)], ["i", "go", *names("a", n)]))
    model(path, [loop], ["x"], names("y", n),
          weights=[tensor(INITIALIZER, INT64, [], ints(2), name="trips")])


def write_scans(path, n):
    body = [node("Relu", [f"a{i}"], [f"b{i}"]) for i in range(n)]
    scan = node("Scan", ["x"] * n, names("y", n), int_attr("num_scan_inputs", n),
                graph_attr("body", body, names("b", n), names("a", n)))
    model(path, [scan], ["x"], names("y", n))


def write_trips(path, n):
    body = [node("Identity", ["go"], ["go_on"]), node("Relu", ["a"], ["b"]),
            node("Neg", ["b"], ["c"])]
    loop = node("Loop", ["trips", "", "x"], ["y", "all"],
                graph_attr("body", body, ["go_on", "b", "c"], ["i", "go", "a"]))
    model(path, [loop], ["x"], ["y", value_info(OUTPUT, "all", FLOAT, [n, 2])],
          weights=[tensor(INITIALIZER, INT64, [], ints(n), name="trips")])


def write_results_of_if(path, n):
    sides = [graph_attr(side, [node("Relu", ["x"], [f"{side}{i}"]) for i in range(n)],
                        names(side, n)) for side in ("then_branch", "else_branch")]
    model(path, [node("If", ["cond"], names("y", n), *sides)], ["x", condition()], names("y", n))


def write_signature(path, n):
    """A function with many operands and results."""
    body = [("Relu", [f"a{i}"], [f"b{i}"]) for i in range(n)]
    model(path, [node("f0", names("in", n), names("y", n), domain="own")], names("in", n),
          names("y", n), domains=["own"],
          in_model=[function(0, body, names("a", n), names("b", n))])


def write_body(path, n):
    """A function called many times."""
    calls = [node("f0", [f"v{i - 1}" if i else "x"], [f"v{i}"], name=f"n{i}", domain="own")
             for i in range(n)]
    model(path, calls, ["x"], [f"v{n - 1}"], domains=["own"],
          in_model=[function(0, [("Relu", ["a"], ["b"])])])


def write_constants(path, n):
    nodes = [node("Constant", [], [f"c{i}"], attr("value_float", 1, b"\x15" + floats(1.5)))
             for i in range(n)]
    nodes.append(node("Sum", names("c", n), ["y"]))
    model(path, nodes, [], [value_info(OUTPUT, "y", FLOAT, [])])


def write_dangling(path, n):
    nodes = [node("Relu", [f"no{i}"], [f"v{i}"], name=f"n{i}") for i in range(n)]
    model(path, nodes, ["x"], [f"v{n - 1}"])


def write_twice(path, n):
    nodes = [node("Relu", ["x"], ["v"], name="n") for i in range(n)]
    model(path, nodes, ["x"], ["v"])


def write_split_outputs(path, n):
    model(path, [node("Split", ["x"], names("v", n), int_attr("axis", 0),
                      int_attr("num_outputs", n))],
          [value_info(INPUT, "x", FLOAT, [n])],
          [value_info(OUTPUT, f"v{i}", FLOAT, [1]) for i in range(n)])


def write_unknown(path, n):
    nodes = [node("Nobody", ["x"], [f"v{i}"], name=f"n{i}", domain="own") for i in range(n)]
    model(path, nodes, ["x"], names("v", n), domains=["own"])


def write_defaults(path, n):
    """Inputs with a default."""
    model(path, [node("Sum", ["x", *names("w", n)], ["y"])], ["x", *names("w", n)], ["y"],
          weights=[weight(f"w{i}", 1, 2) for i in range(n)])


def write_same_output(path, n):
    """Names of outputs that lead back to one value."""
    model(path, [node("Relu", ["x"], ["v"])] + [node("Identity", ["v"], [f"y{i}"])
                                                for i in range(n)], ["x"], names("y", n))


def write_reads(path, n):
    """One value with many readers."""
    model(path, [node("Relu", ["x"], ["v"]), *(node("Neg", ["v"], [f"y{i}"]) for i in range(n)),
                 node("Sum", names("y", n), ["z"])], ["x"], ["z"])


def write_folders(path, n):
    """Scopes: names of nodes with slashes, a block each."""
    nodes = [node("Relu", [f"v{i - 1}" if i else "x"], [f"v{i}"], name=f"/blocks.{i}/act/Relu")
             for i in range(n)]
    model(path, nodes, ["x"], [f"v{n - 1}"])


def write_annotations(path, n):
    notes = [sub(14, text(1, f"v{i}"), carried(2, text(1, "SCALE_TENSOR"), text(2, f"w{i}")))
             for i in range(n)]
    model(path, chain(n), ["x"], [f"v{n - 1}"], weights=[weight(f"w{i}", 1) for i in range(n)],
          in_graph=notes)


def write_sparse(path, n):
    cases = [sub(15, carried(1, num(1, 1), num(2, FLOAT), text(8, f"w{i}"), text(9, floats(1))),
                 carried(2, num(1, 1), num(2, INT64), text(9, ints(0))), num(3, 2))
             for i in range(n)]
    model(path, [node("Sum", ["x", *names("w", n)], ["y"])], ["x"], ["y"], weights=cases)


KINDS = {name[len("write_"):]: write for name, write in list(globals().items())
         if name.startswith("write_")}


FAULTY = ("dangling", "twice")
SOUND = [kind for kind in KINDS if kind not in FAULTY]


def main():
    if len(sys.argv) != 4:
        sys.exit(f"{__doc__}\nkinds: {' '.join(KINDS)}")
    kind, n, path = sys.argv[1:]
    KINDS[kind](path, int(n))


if __name__ == "__main__":
    main()
