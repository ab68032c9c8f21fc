"""Every op on drawn inputs, here and in torch.

Mirrors: nothing in PyTorch: it has no other library to be compared with.
"""
