"""Packs reftorch's extension for VS Code, and opens the checkout in an editor with the extension.

Mirrors: nothing in PyTorch: its developers bring their own editor.
Left out: installing an editor; publishing the extension.

    python3 .ci/editor.py vsix     write build/reftorch-debug-VERSION.vsix (a zip; no npm and no network are needed)
    python3 .ci/editor.py open     install it into the first editor that is found, and open the checkout
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from urllib.parse import urlencode
from xml.sax.saxutils import quoteattr

ROOT = Path(__file__).resolve().parents[1]
EXTENSION = ROOT / ".vscode" / "extensions" / "reftorch-debug"
EDITORS = ("code", "codium", "code-insiders", "code-server")
# Trust cannot be a setting of the folder. The option is for this start alone: a user who runs `make code` trusts it.
QUIETLY = ("--disable-workspace-trust",)
# In a browser, the first window shows a welcome page before it has read the settings of the folder. This says not to.
QUERY = urlencode({"folder": str(ROOT), "payload": '[["skipWelcome","true"]]'})
CODE_SERVER = Path.home() / ".config" / "code-server" / "config.yaml"
NEVER_CHANGES = (1980, 1, 1, 0, 0, 0)  # the time of every file in the package, so that equal files give equal packages

TYPES = """<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
{types}
</Types>
"""
MANIFEST = """<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" Id={name} Version={version} Publisher={publisher}/>
    <DisplayName>{title}</DisplayName>
    <Description xml:space="preserve">{description}</Description>
    <Categories>{categories}</Categories>
    <Properties>
      <Property Id="Microsoft.VisualStudio.Code.Engine" Value={engine}/>
      <Property Id="Microsoft.VisualStudio.Code.ExtensionKind" Value={kind}/>
    </Properties>
    <License>extension/LICENSE</License>
  </Metadata>
  <Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
  <Dependencies/>
  <Assets>
    <Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.Details" Path="extension/README.md" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.License" Path="extension/LICENSE" Addressable="true"/>
  </Assets>
</PackageManifest>
"""
SUFFIXES = {
    ".js": "application/javascript",
    ".json": "application/json",
    ".md": "text/markdown",
    ".py": "text/x-python",
}


def package() -> Path:
    """Write the extension's .vsix and return its path."""
    said = json.loads((EXTENSION / "package.json").read_text())
    manifest = MANIFEST.format(
        name=quoteattr(said["name"]),
        version=quoteattr(said["version"]),
        publisher=quoteattr(said["publisher"]),
        engine=quoteattr(said["engines"]["vscode"]),
        kind=quoteattr(",".join(said["extensionKind"])),
        title=said["displayName"],
        description=said["description"],
        categories=",".join(said["categories"]),
    )
    types = [f'  <Default Extension="{suffix}" ContentType="{kind}"/>' for suffix, kind in SUFFIXES.items()]
    types += ['  <Default Extension=".vsixmanifest" ContentType="text/xml"/>']
    types += ['  <Override PartName="/extension/LICENSE" ContentType="text/plain"/>']
    contents = {"extension.vsixmanifest": manifest, "[Content_Types].xml": TYPES.format(types="\n".join(types))}
    for path in sorted([*EXTENSION.iterdir(), ROOT / "LICENSE"], key=lambda path: path.name):
        contents[f"extension/{path.name}"] = path.read_text()
    target = ROOT / "build" / f"{said['name']}-{said['version']}.vsix"
    target.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in contents.items():
            archive.writestr(zipfile.ZipInfo(name, NEVER_CHANGES), text, zipfile.ZIP_DEFLATED)
    return target


def find_editor() -> str | None:
    asked = os.environ.get("REFTORCH_EDITOR")
    return next((found for name in ([asked] if asked else EDITORS) if (found := shutil.which(name))), None)


def address_of_code_server() -> str:
    """Where it will listen: its first start writes the file, with this address."""
    said = re.search(r"^bind-addr: *(\S+)", CODE_SERVER.read_text(), re.M) if CODE_SERVER.exists() else None
    return said[1] if said else "127.0.0.1:8080"


def open_checkout() -> int:
    editor = find_editor()
    if editor is None:
        asked = os.environ.get("REFTORCH_EDITOR")
        said = f"REFTORCH_EDITOR={asked} is not there" if asked else f"none of {', '.join(EDITORS)} is on PATH"
        print(f"reftorch: no editor to open: {said}.", file=sys.stderr)
        print("    VS Code:      code.visualstudio.com; VSCodium, its open build: vscodium.com", file=sys.stderr)
        print("    in a browser: code-server, from npm: npm install --global code-server", file=sys.stderr)
        print("    another one:  make code REFTORCH_EDITOR=/path/to/it", file=sys.stderr)
        print("    without one:  make lab, whose notebooks stop in C++ as well", file=sys.stderr)
        return 1
    installed = subprocess.run([editor, "--install-extension", str(package()), "--force"], check=False)
    if installed.returncode != 0:
        print("reftorch: the editor did not install the extension; its output is above. Without it,", file=sys.stderr)
        print("    the configurations of *Run and Debug* and our kernel for notebooks do not start.", file=sys.stderr)
    if Path(editor).name == "code-server":
        print(f"reftorch: open http://{address_of_code_server()}/?{QUERY}; the password is in {CODE_SERVER}")
    sys.stdout.flush()
    os.execv(editor, [editor, *QUIETLY, str(ROOT)])


def main(argv: list[str]) -> int:
    if argv == ["vsix"]:
        print(package().relative_to(ROOT))
        return 0
    if argv == ["open"]:
        return open_checkout()
    print("usage: editor.py vsix | open", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
