"""A loudness meter for two microphones: their last 18 frames, mixed, older ones fainter. In torch and in NumPy.

Mirrors: nothing in PyTorch: the program of chapter 04, and a program for the debugger.
Leaves out: sound.
"""

from collections import OrderedDict

import numpy as np

import reftorch as torch

LENGTH = 18


def signal():
    """Twenty frames, each with the loudness at the left and at the right microphone."""
    return [np.array([tick, 3 * tick], dtype=np.float32) for tick in range(1, 21)]


class Gain(torch.nn.Module):
    def forward(self, frame):
        return frame * 0.5


class Window(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("frames", torch.zeros(2, LENGTH))

    def forward(self, frame):
        self.frames[:, 1:] = self.frames[:, :-1]
        self.frames[:, 0] = frame
        return self.frames


class Mix(torch.nn.Module):
    def forward(self, frames):
        return frames.mean(0)


class Fade(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("weights", torch.linspace(1, 0.15, LENGTH))

    def forward(self, mixed):
        return mixed * self.weights


def make_meter():
    return torch.nn.Sequential(OrderedDict(gain=Gain(), window=Window(), mix=Mix(), fade=Fade()))


def numpy_meter():
    """The same program in NumPy; returns what each stage gave for each frame, by the names of `record_tensors`."""
    frames, weights = np.zeros((2, LENGTH), np.float32), np.linspace(1, 0.15, LENGTH, dtype=np.float32)
    outputs = {}
    for number, frame in enumerate(signal(), 1):
        louder = frame * np.float32(0.5)
        frames[:, 1:] = frames[:, :-1]
        frames[:, 0] = louder
        mixed = frames.mean(0)
        call = "" if number == 1 else f"#{number}"
        for stage, output in {"gain": louder, "window": frames, "mix": mixed, "fade": mixed * weights}.items():
            outputs[f"{stage}{call}/output"] = torch.from_numpy(output.copy())
    return outputs


if __name__ == "__main__":
    meter = make_meter()
    for frame in signal():
        levels = meter(torch.from_numpy(frame))
    print(levels)
