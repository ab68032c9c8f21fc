"""The editor's window in a browser: what a person does in it, and what a person sees.

Mirrors: nothing in PyTorch: it tests no editor.
Left out: whatever the stages do not use.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, TimeoutError, ViewportSize

from tests.debug.dap import PATIENCE
from tests.vscode.server import Server

GLANCE = 200  # ms between two looks
UNASKED = 15_000  # ms in which an editor asks and tells what it has to
TURN = 50  # ms after which a list that was scrolled is drawn
ROWS_AT_MOST = 30  # a third of the rows that CALL STACK may have: three come into reach at each look
FIRST_ANSWER = 2000  # ms in which the adapter of the other language says that a breakpoint is not its own
BUTTONS = {"F5": "continue", "F10": "step-over", "F11": "step-into"}
SMALL: ViewportSize = {"width": 1280, "height": 760}  # a window whose picture is read at the width of a notebook
ROWS = "selector => [...document.querySelectorAll(selector)].map(row => row.ariaLabel || row.textContent)"
CHOSEN = "selector => [...document.querySelectorAll(selector)].flatMap(e => [...e.selectedOptions].map(o => o.text))"
STACK_ROWS = ".debug-call-stack .monaco-list-rows .monaco-list-row"  # not those that stick to the upper edge
# The rows of a list that can be clicked, others lie below its edge: [number, what a screen reader reads, x, y].
IN_REACH = """selector => [...document.querySelectorAll(selector)].map(row => {
    const box = row.getBoundingClientRect(), [x, y] = [box.x + box.width / 3, box.y + box.height / 2];
    return row.contains(document.elementFromPoint(x, y)) ? [+row.dataset.index, row.ariaLabel || '', x, y] : null;
}).filter(row => row)"""
# The middle of a piece of a line of the editor in front: [x, y], or null while it is not on the screen.
PLACE_OF = """([line, piece]) => {
    const plain = text => text.replaceAll('\\u00a0', ' ');
    for (const shown of document.querySelectorAll('.editor-instance .view-line')) {
        const start = plain(shown.textContent).trim() === line ? plain(shown.textContent).indexOf(piece) : -1;
        if (start < 0) continue;
        const walker = document.createTreeWalker(shown, NodeFilter.SHOW_TEXT);
        for (let before = 0, node; (node = walker.nextNode()); before += node.length) {
            if (start >= before + node.length) continue;
            const range = document.createRange();
            range.setStart(node, start - before);
            range.setEnd(node, Math.min(start - before + piece.length, node.length));
            const box = range.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2];
        }
    }
    return null;
}"""


class StageFailed(Exception):
    """What a person would have seen by now is not to be seen."""


def expect(part: str, whole: str) -> None:
    if part not in whole:
        raise StageFailed(f"expected `{part}`, came `{whole}`")


class Window:
    """One window, on the checkout."""

    def __init__(self, page: Page, server: Server, shots: Path) -> None:
        self.page, self.shots = page, shots
        self._began = time.monotonic()
        page.set_default_timeout(PATIENCE * 1000)
        self._server = server

    def enter(self) -> None:
        """Log in, wait until the files are listed, and see that the editor shows nothing that nobody asked for."""
        page, password = self.page, "input[type=password]"
        page.goto(f"{self._server.address}/?{self._server.query}", wait_until="domcontentloaded")
        page.fill(password, self._server.password)
        page.press(password, "Enter")
        page.wait_for_selector(".explorer-folders-view .monaco-list-row")
        page.wait_for_timeout(UNASKED)
        self.shot("1_opened", "the checkout is open")
        if self.messages() or any(each.is_visible() for each in page.locator(".tab, .part.auxiliarybar").all()):
            raise StageFailed(
                f"the editor asks a question, or shows a message, a page or a second side bar: {self.all_seen()}"
            )

    def say(self, text: str) -> None:
        print(f"{time.monotonic() - self._began:6.1f} s  {text}", flush=True)

    def shot(self, name: str, text: str) -> None:
        self.page.wait_for_timeout(500)  # what is drawn last: marks and colours
        file = self.shots / f"vscode_{name}.png"
        self.page.screenshot(path=str(file))
        self.say(f"{text} ({file.name})")

    def until(self, look: Callable[[], Any], what: str) -> Any:
        """Look until there is something to be seen; looks are counted, so that the time of a stopped machine is not."""
        for _ in range(PATIENCE * 1000 // GLANCE):
            if seen := look():
                return seen
            self.page.wait_for_timeout(GLANCE)
        raise StageFailed(f"not seen in {PATIENCE} s: {what}; {self.all_seen()}")

    def rows(self, selector: str) -> list[str]:
        """What a screen reader would read: the rows of a list."""
        return [" ".join(row.split()) for row in self.page.evaluate(ROWS, selector)]

    def call_stack(self) -> list[str]:
        return self.rows(".debug-call-stack .monaco-list-row")

    def variables(self) -> list[str]:
        return self.rows(".debug-variables .monaco-list-row")

    def watches(self) -> list[str]:
        return self.rows('[aria-label="Debug Watch Expressions"] .monaco-list-row')

    def console(self) -> list[str]:
        return self.rows(".repl .monaco-list-row")

    def owners_of_console(self) -> list[str]:
        """The session whose console is shown, where there are several to choose from."""
        return [" ".join(text.split()) for text in self.page.evaluate(CHOSEN, ".part.panel select")]

    def breakpoints(self) -> list[str]:
        return self.rows(".debug-breakpoints .monaco-list-row")

    def messages(self) -> list[str]:
        return self.rows(".notification-list-item, .monaco-dialog-box")

    def all_seen(self) -> str:
        names = ("call_stack", "variables", "watches", "console", "messages")
        return "; ".join(f"{name}: {getattr(self, name)()}" for name in names)

    # --- the keyboard and the mouse -----------------------------------------------------------------------------------

    def press(self, key: str) -> None:
        self.page.keyboard.press(key)

    def drive(self, key: str) -> None:
        """Press a key of the toolbar, once its button can be pressed: a stop is in the lists a little before."""
        self.page.locator(f".debug-toolbar .codicon-debug-{BUTTONS[key]}:not(.disabled)").first.wait_for()
        self.press(key)

    def paste(self, text: str) -> None:
        """Put the text in as it is; typed text would be indented by the editor."""
        self.page.evaluate("text => navigator.clipboard.writeText(text)", text)
        self.press("Control+V")

    def pick(self, key: str, text: str, wanted: str) -> None:
        """Open a quick pick, type, and click the row that reads `wanted`, whatever more stands in it after a comma."""
        widget = self.page.locator(".quick-input-widget")
        row = widget.locator(f'.monaco-list-row:is([aria-label="{wanted}"], [aria-label^="{wanted},"])').first

        # A list that was asked for before the editor knew its files or commands stays as it was: ask again.
        for _ in range(6):
            if not widget.is_visible():
                self.press(key)
            with suppress(TimeoutError):
                widget.locator("input").first.fill(text, timeout=PATIENCE * 1000 / 6)
                row.wait_for(timeout=PATIENCE * 1000 / 6)
                row.click()
                widget.wait_for(state="hidden")
                return
            self.press("Escape")
        raise StageFailed(f"`{wanted}` was not offered for `{text}`; {self.all_seen()}")

    def command(self, name: str) -> None:
        self.pick("F1", f">{name}", name)

    def open(self, file: str, line: int | None = None) -> None:
        """By its path, as *Go to File* takes it; the cursor comes to stand in the line."""
        folder, _, name = file.rpartition("/")
        self.pick("Control+P", file if line is None else f"{file}:{line}", f"{name} {folder}")
        self.page.wait_for_selector(f'.tab.active[aria-label^="{name}"]')
        if line is not None:
            self.until(lambda: f"Ln {line}," in self.page.inner_text(".part.statusbar"), f"{file}:{line} in front")

    def set_breakpoint(self, file: str, line: int) -> None:
        """Set a breakpoint, and wait until it is red.

        Only then has the debugger of a session that runs set it. Until then a program that goes on would pass. The
        editor also shows a new breakpoint red before any debugger has answered, so the first moments tell nothing.
        """
        self.open(file, line)
        self.press("F9")
        self.page.wait_for_timeout(FIRST_ANSWER)
        self.page.locator(".editor-instance .codicon-debug-breakpoint:not(.codicon-debug-hint)").first.wait_for()

    def _show_sessions(self, fold_breakpoints: bool) -> None:
        self.command("View: Show Run and Debug")
        if fold_breakpoints:
            self.fold("Breakpoints")

    def fold(self, name: str, is_folded: bool = True) -> None:
        """Fold or unfold a list of the side bar."""
        section = self.page.locator(f'.pane-header[aria-label="{name} Section"]')
        if (section.get_attribute("aria-expanded") == "false") != is_folded:
            section.click()

    def start(self, configuration: str, fold_breakpoints: bool = False) -> None:
        """Start a session, in a side bar as wide as the editor makes it. A folded list leaves room for the others."""
        self._show_sessions(fold_breakpoints)
        self.page.select_option(".start-debug-action-item select", label=configuration)
        self.press("F5")

    def start_offered(self, configuration: str, fold_breakpoints: bool = False) -> None:
        """Start a session of a configuration that the extension offers, below those of the checkout."""
        self._show_sessions(fold_breakpoints)
        self.page.select_option(".start-debug-action-item select", label="reftorch...")
        widget = self.page.locator(".quick-input-widget")
        widget.locator(f'.monaco-list-row[aria-label^="{configuration}"]').first.click()
        widget.wait_for(state="hidden")
        self.press("F5")

    def run_to_the_end(self, file: str, line: int) -> None:
        """Take away a breakpoint, and let the program run until both sessions and all their processes have ended."""
        self.open(file, line)
        self.press("F9")
        self.drive("F5")
        self.until(lambda: not self.call_stack(), "the end of both sessions")
        self.until(lambda: not self._server.debuggers(), "no process of the session is left")

    def watch(self, expression: str) -> None:
        """Add an expression to those that the editor evaluates at each stop."""
        pane = self.page.locator(".pane", has=self.page.locator('[aria-label="Watch Section"]'))
        box = self.page.locator(".monaco-inputbox input:focus")
        for _ in range(6):  # a list that is drawn anew at a stop closes the box again
            pane.hover()
            pane.locator('[aria-label="Add Expression"]').click()
            with suppress(TimeoutError):
                box.wait_for(timeout=PATIENCE * 1000 / 6)
                break
        else:
            raise StageFailed(f"no box to write `{expression}` into; {self.all_seen()}")
        self.page.keyboard.insert_text(expression)
        self.press("Enter")
        self.wait_for_row(self.watches, f"^{re.escape(expression)}")

    def picture(self, file: Path) -> None:
        """Take the picture of a lesson anew if `REFTORCH_COURSE_STORE` is set: no panel, and no tip under the mouse."""
        if self.page.locator(".part.panel").is_visible():
            self.command("View: Toggle Panel Visibility")
        self.page.mouse.move(800, 700)
        self.page.wait_for_timeout(2000)
        if os.environ.get("REFTORCH_COURSE_STORE"):
            self.page.screenshot(path=str(file))

    def hover(self, line: str, piece: str) -> str:
        """What the debugger says of a piece of a line that is on the screen."""
        x, y = self.until(lambda: self.page.evaluate(PLACE_OF, [line, piece]), f"`{line}` on the screen")
        self.page.mouse.move(x, y)
        shown = self.page.locator(".debug-hover-widget:visible")
        shown.wait_for()
        return " ".join(shown.inner_text().split())

    def leave_hover(self) -> None:
        self.page.mouse.move(800, 12)
        self.page.locator(".debug-hover-widget:visible").wait_for(state="hidden")

    def say_in_console(self, text: str) -> None:
        self.command("Debug Console: Focus on Debug Console View")
        self.page.keyboard.insert_text(text)
        self.press("Enter")

    def click_row(self, view: str, row: str) -> None:
        self.page.locator(f'.debug-{view} .monaco-list-row[aria-label*="{row}"]').first.click()

    def select_paused(self, session: str, view: Callable[[], list[str]], row: str) -> str:
        """Show one of several sessions, once it has paused; the keys drive it then. Returns the row to be seen."""
        for _ in range(6):  # a list that moves while it is clicked has another row there
            self._click_in_stack(f"Session {session} Paused")
            for _ in range(PATIENCE * 1000 // 6 // GLANCE):
                if found := [each for each in view() if re.search(row, each)]:
                    return found[0]
                self.page.wait_for_timeout(GLANCE)
        raise StageFailed(f"`{session}` does not show `{row}`; {self.all_seen()}")

    def _click_in_stack(self, start: str) -> None:
        """Click the first row of CALL STACK that begins so. The list draws only the rows that fit."""
        for look in range(PATIENCE * 1000 // TURN):
            if look % ROWS_AT_MOST == 0:
                for _ in range(ROWS_AT_MOST):  # one turn of the wheel moves the list by a few rows, however far it goes
                    self._scroll_stack(-100)
            for _, label, x, y in sorted(self.page.evaluate(IN_REACH, STACK_ROWS)):
                if label.startswith(start):
                    self.page.mouse.click(x, y)
                    return
            self._scroll_stack(66)
        raise StageFailed(f"`{start}` cannot be clicked in CALL STACK; {self.all_seen()}")

    def _scroll_stack(self, by: int) -> None:
        box = self.page.locator(".debug-call-stack").bounding_box()
        if box is not None:
            self.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
            self.page.mouse.wheel(0, by)
            self.page.wait_for_timeout(TURN)

    def wait_for_row(self, view: Callable[[], list[str]], pattern: str) -> str:
        """The first row of a view that has the pattern in it."""
        found = self.until(lambda: [row for row in view() if re.search(pattern, row)], f"`{pattern}`")
        return str(found[0])
