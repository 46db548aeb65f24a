#!/usr/bin/env python3
"""Make the pictures of this folder and what Pillow reads from them and scales them to.

    python3 make_images.py OUT_FOLDER

Needs NumPy and Pillow. wide.png: RGB; alpha.png: with transparency; palette.png: 16 colours;
gray.png: one channel; tall.jpg, gray.jpg, progressive.jpg: JPEG. NAME.npy: the
pixels as RGB; NAME_WxH.npy: scaled by Image.resize with BILINEAR.
"""
import pathlib
import sys

import numpy as np
from PIL import Image

rng = np.random.default_rng(5)
out = pathlib.Path(sys.argv[1])


def scene(width, height):
    y, x = np.mgrid[:height, :width]
    waves = [127 + 90 * np.sin(x / (3 + c) + c) * np.cos(y / (5 - c)) for c in range(3)]
    noise = rng.integers(-20, 21, (height, width, 3))
    return np.clip(np.stack(waves, -1) + noise, 0, 255).astype(np.uint8)


def keep(name, image, sizes=(), **options):
    image.save(out / name, **options)
    seen = Image.open(out / name).convert("RGB")
    stem = name.replace(".", "_")
    np.save(out / f"{stem}.npy", np.asarray(seen))
    for size in sizes:
        scaled = seen.resize(size, Image.BILINEAR)
        np.save(out / f"{stem}_{size[0]}x{size[1]}.npy", np.asarray(scaled))


wide = Image.fromarray(scene(46, 31))
keep("wide.png", wide, [(24, 16), (92, 62), (46, 10), (7, 31)])
transparent = wide.convert("RGBA")
transparent.putalpha(Image.fromarray(rng.integers(0, 256, (31, 46), dtype=np.uint8)))
keep("alpha.png", transparent)
keep("palette.png", wide.quantize(16))
keep("gray.png", wide.convert("L"))
keep("tall.jpg", Image.fromarray(scene(33, 58)), [(16, 28)], quality=90)
keep("gray.jpg", wide.convert("L"), quality=90)
keep("progressive.jpg", wide, progressive=True, quality=80)
