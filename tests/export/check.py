#!/usr/bin/python3
"""Runs exported networks in Python, without us.

    check.py FOLDER torch|onnx|onnxruntime...

FOLDER has NAME.pt, NAME.onnx, NAME.input.npy and NAME.logits.npy, as export_samples writes them. torch: TorchScript files give the logits;
onnx: its checker takes the ONNX files, shapes included; onnxruntime: they give the logits, for one sample too. Fails where a number is
further than 1e-4 from the logits (of its size, where that is above 1).
"""
import glob
import json
import os
import sys

import numpy


def difference(logits, expected):
    assert logits.shape == expected.shape, (logits.shape, expected.shape)
    return float((numpy.abs(logits - expected) / numpy.maximum(1, numpy.abs(expected))).max())


def by_torch(stem, pixels):
    import torch

    extra = {"regroup.json": ""}
    module = torch.jit.load(stem + ".pt", _extra_files=extra)
    assert len(module.class_names) == 7 and module.class_names[0] == "class 0", module.class_names
    assert json.loads(extra["regroup.json"])["channels"] == module.channels == pixels.shape[1]
    with torch.no_grad():
        return module(torch.from_numpy(pixels)).numpy()


def by_checker(stem, pixels):
    import onnx

    model = onnx.load(stem + ".onnx")
    onnx.checker.check_model(model, full_check=True)
    properties = {entry.key: entry.value for entry in model.metadata_props}
    assert len(json.loads(properties["class_names"])) == 7
    assert json.loads(properties["regroup"])["channels"] == pixels.shape[1]
    return None


def by_runtime(stem, pixels):
    import onnxruntime

    session = onnxruntime.InferenceSession(stem + ".onnx", providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    assert len(json.loads(session.get_modelmeta().custom_metadata_map["class_names"])) == 7
    both = session.run(["logits"], {name: pixels})[0]
    one = session.run(["logits"], {name: pixels[:1]})[0]
    assert difference(one, both[:1]) < 1e-4
    return both


folder, runtimes = sys.argv[1], sys.argv[2:]
ways = {"torch": by_torch, "onnx": by_checker, "onnxruntime": by_runtime}
files = sorted(glob.glob(os.path.join(folder, "*.onnx")))
failed = 0
for runtime in runtimes:
    for file in files:
        stem = file[:-len(".onnx")]
        logits = ways[runtime](stem, numpy.load(stem + ".input.npy"))
        worst = 0 if logits is None else difference(logits, numpy.load(stem + ".logits.npy"))
        failed += not worst <= 1e-4
        print("ok    " if worst <= 1e-4 else "FAILED", runtime, os.path.basename(stem), f"{worst:.1e}")
print(len(files), "files,", failed, "failed")
sys.exit(0 if files and runtimes and not failed else 1)
