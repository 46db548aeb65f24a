#!/usr/bin/env python3
"""Make the MNIST files of this folder from a folder of trained models and labelled data.

    python3 make_slice.py SOURCE_DIR [N]

SOURCE_DIR holds mnist_test.npz (x float32 [n,1,28,28], normalised as (x/255-0.1307)/0.3081;
y int64 [n]) and the trained models. Takes the first N (default 500) labelled images, and the
models as they are. Needs numpy. Running it twice gives the same bytes.
"""
import os
import shutil
import sys
import zipfile

import numpy as np

MODELS = ("mnist_softmax_prepbn_op17.onnx", "mnist_softmax_ln_op17.onnx")


def write_npz(path, arrays):
    """A deflated npz with fixed dates, so that its bytes depend on the arrays alone."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for key, array in arrays.items():
            member = zipfile.ZipInfo(key + ".npy", date_time=(1980, 1, 1, 0, 0, 0))
            member.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(member, "w") as f:
                np.lib.format.write_array(f, np.ascontiguousarray(array), version=(1, 0))


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    source, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) == 3 else 500
    here = os.path.dirname(os.path.abspath(__file__))
    with np.load(os.path.join(source, "mnist_test.npz")) as data:
        write_npz(os.path.join(here, "test_500.npz"), {"x": data["x"][:count], "y": data["y"][:count]})
    for name in MODELS:
        shutil.copyfile(os.path.join(source, name), os.path.join(here, name))


if __name__ == "__main__":
    main()
