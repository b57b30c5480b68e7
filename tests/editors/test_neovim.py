"""The plugin in a real Neovim: ghost text appears, is accepted exactly, and never outlives the text it was made for."""

from __future__ import annotations

from .conftest import Editor


def test_types_sees_ghost_text_and_accepts_with_tab(editor: Editor) -> None:
    editor.open("shop.py")
    editor.type("itotal = ")
    editor.until(lambda: editor.ghost == "price * count")
    assert editor.screen[0] == "total = price * count"
    assert editor.lines == ["total = "]
    editor.type("<Tab>")
    editor.until(lambda: editor.lines == ["total = price * count"])
    assert editor.ghost is None
    editor.type(" + 1")
    editor.until(lambda: editor.lines == ["total = price * count + 1"])


def test_undo_takes_back_the_completion_and_not_what_was_typed(editor: Editor) -> None:
    editor.open("undo.py")
    editor.type("itotal = ")
    editor.until(lambda: editor.ghost)
    editor.type("<Tab><Esc>u")
    editor.until(lambda: editor.lines == ["total = "])


def test_tab_without_ghost_text_is_a_tab(editor: Editor) -> None:
    editor.open("tab.py")
    editor.lua("vim.bo.expandtab = false")
    editor.type("ix<Tab>y")
    editor.until(lambda: editor.lines == ["x\ty"])


def test_several_lines_are_drawn_below_and_inserted_as_lines(editor: Editor) -> None:
    editor.open("add.py", "def add(a, b)\n\nprint(add(1, 2))\n")
    editor.type("A:")
    editor.until(lambda: editor.ghost)
    assert editor.screen[:4] == ["def add(a, b):", "    return a + b", "", ""]
    editor.type("<Tab>")
    editor.until(lambda: len(editor.lines) == 5)
    assert editor.lines == ["def add(a, b):", "    return a + b", "", "", "print(add(1, 2))"]
    assert editor.nvim.current.window.cursor == (3, 0)
    assert editor.servers_text == "def add(a, b):\n    return a + b\n\n\nprint(add(1, 2))\n"


def test_tabs_are_drawn_as_wide_as_they_will_stand(editor: Editor) -> None:
    editor.open("tabs.txt", "\tif grüße\n")
    editor.lua("vim.bo.tabstop = 4")
    editor.type("A:")
    editor.until(lambda: editor.ghost)
    assert editor.screen[:2] == ["    if grüße:", '        return "größe"']
    editor.type("<Tab>")
    editor.until(lambda: editor.lines == ["\tif grüße:", '\t\treturn "größe"'])


def test_several_lines_within_a_line_move_its_rest_down(editor: Editor) -> None:
    editor.open("rest.py", "x = )  # end")
    editor.type("0f)icall(")
    editor.until(lambda: editor.ghost == "first,\n    second")
    assert editor.screen[:2] == ["x = call(first,", "    second)  # end"]
    editor.type("<Tab>")
    editor.until(lambda: editor.lines == ["x = call(first,", "    second)  # end"])
    editor.type(";")
    editor.until(lambda: editor.lines == ["x = call(first,", "    second;)  # end"])


def test_typing_what_is_shown_shortens_it_without_asking_again(editor: Editor) -> None:
    editor.open("follow.py")
    editor.type("itotal = ")
    editor.until(lambda: editor.ghost == "price * count")
    for key, left in (("p", "rice * count"), ("r", "ice * count"), ("i", "ce * count")):
        editor.type(key)
        editor.until(lambda left=left: editor.ghost == left)
    assert not [entry for entry in editor.log if entry == ["asked", "total = p"]]
    editor.type("<Tab>")
    editor.until(lambda: editor.lines == ["total = price * count"])


def test_typing_something_else_hides_it(editor: Editor) -> None:
    editor.open("other.py")
    editor.type("itotal = ")
    editor.until(lambda: editor.ghost)
    editor.type("q")
    editor.until(lambda: editor.ghost is None)
    assert editor.screen[0] == "total = q"
    editor.type("<Tab>")
    editor.until(lambda: editor.lines[0].startswith("total = q") and editor.lines != ["total = q"])
    assert "price" not in editor.lines[0]


def test_words_are_accepted_one_by_one(editor: Editor) -> None:
    editor.open("words.py")
    editor.type("iwords = ")
    editor.until(lambda: editor.ghost)
    steps = ["alpha", ".", "beta", "(", "größe", ")"]
    for taken in range(1, len(steps) + 1):
        editor.type("<M-Right>")
        editor.until(lambda taken=taken: editor.lines == ["words = " + "".join(steps[:taken])])
    assert editor.ghost == "\n    more"
    editor.type("<M-Right>")
    editor.until(lambda: editor.lines == ["words = alpha.beta(größe)", "    more"])
    assert editor.ghost is None


def test_a_result_that_comes_late_is_dropped(editor: Editor) -> None:
    editor.open("late.py")
    editor.type("islow = ")
    editor.until(lambda: ["asked", "slow = "] in editor.log)
    editor.lua("vim.lsp.get_clients()[1].cancel_request = function() return true end")  # the answer comes all the same
    editor.type("other")
    editor.until(lambda: ["answered", "slow = "] in editor.log)
    assert editor.ghost is None
    assert editor.lines == ["slow = other"]
    editor.lua("vim.lsp.get_clients()[1].cancel_request = nil")


def test_typing_on_cancels_what_was_asked(editor: Editor) -> None:
    editor.open("cancel.py")
    editor.type("inever = ")
    editor.until(lambda: ["asked", "never = "] in editor.log)
    editor.type("x")
    editor.until(lambda: ["cancelled", "never = "] in editor.log)


def test_leaving_insert_mode_hides_and_cancels(editor: Editor) -> None:
    editor.open("leave.py")
    editor.type("itotal = ")
    editor.until(lambda: editor.ghost)
    editor.type("<Esc>")
    editor.until(lambda: editor.ghost is None)
    assert editor.screen[0] == "total ="


def test_asked_for_by_hand_there_are_several_to_choose_from(editor: Editor) -> None:
    editor.open("choose.py")
    editor.type("itotal = ")
    editor.until(lambda: editor.ghost)
    editor.type("<M-Bslash>")
    editor.until(lambda: editor.ghost == "price * count")
    editor.type("<M-]>")
    editor.until(lambda: editor.ghost == "sum(prices)")
    editor.type("<M-[><M-[>")
    editor.until(lambda: editor.ghost == "prize")
    editor.type("<Tab>")
    editor.until(lambda: editor.lines == ["total = prize"])


def check_text_that_is_not_ascii(editor: Editor, encoding: str) -> None:
    editor.open("grüße.py", "# 😀 first\n")
    assert editor.lua("return require('coder').client().offset_encoding") == encoding
    editor.type('Goé😀 = "πß😀" + ')
    editor.until(lambda: editor.ghost == '"naïve 😀" + str(ü)')
    editor.type("<Tab>  # ß")
    editor.until(lambda: editor.lines == ["# 😀 first", 'é😀 = "πß😀" + "naïve 😀" + str(ü)  # ß'])
    assert editor.servers_text == "".join(line + "\n" for line in editor.lines)


def test_columns_in_utf8(editor: Editor) -> None:
    check_text_that_is_not_ascii(editor, "utf-8")


def test_columns_in_utf16(editor_utf16: Editor) -> None:
    check_text_that_is_not_ascii(editor_utf16, "utf-16")


def test_files_with_crlf_get_no_stray_characters(editor: Editor) -> None:
    editor.open("crlf.py", "x = 1\r\ndef add(a, b)\r\n")
    editor.type("GA:")
    editor.until(lambda: editor.ghost == "\n    return a + b\n")
    editor.type("<Tab><Esc>:write<CR>")
    wanted = b"x = 1\r\ndef add(a, b):\r\n    return a + b\r\n\r\n"
    editor.until(lambda: (editor.folder / "crlf.py").read_bytes() == wanted)


def test_a_fix_is_shown_as_a_diff_and_made_when_agreed(editor: Editor) -> None:
    text = "import os\n\n\nclass TestSums:\n    def test_add(self):\n        assert a - b == 3  # ß\n"
    editor.open("test_sums.py", text)
    for agreed, line in ((False, "        assert a - b == 3  # ß"), (True, "        assert a + b == 3  # ß")):
        editor.lua(
            "local agreed = ...; shown = nil; require('coder').options.confirm ="
            " function(diff, reason, answer) shown = reason .. '\\n' .. diff; answer(agreed) end",
            agreed,
        )
        before = editor.log.count(["fix", "test_sums.py::TestSums::test_add"])
        editor.nvim.current.window.cursor = (6, 4)
        editor.nvim.command("CoderFix")
        diff = editor.until(lambda: editor.lua("return shown"))
        assert diff.startswith("Fix test_sums.py::TestSums::test_add: passes 1 test\n--- test_sums.py\n")
        assert "-        assert a - b == 3  # ß\n+        assert a + b == 3  # ß\n" in diff
        editor.until(lambda agreed=agreed: editor.log[-1][:2] == ["applied", agreed])
        assert editor.log.count(["fix", "test_sums.py::TestSums::test_add"]) == before + 1
        assert editor.lines[5] == line
    editor.type("u")
    editor.until(lambda: editor.lines[5] == "        assert a - b == 3  # ß")


def test_a_fix_for_a_text_that_has_changed_since_is_refused(editor: Editor) -> None:
    editor.open("test_late.py", "def test_late():\n    assert a - b\n")
    editor.lua("require('coder').options.confirm = function() error('asked about a stale change') end")
    editor.nvim.command("CoderFix test_late.py::test_late")
    editor.until(lambda: editor.log[-1] == ["applied", False, "a document has changed since"])
    assert editor.lines[1] == "    assert a - b"


def test_the_status_line_tells_what_the_server_does(editor: Editor) -> None:
    editor.open("test_state.py", "def test_state():\n    assert a - b\n")
    editor.lua(
        "states = {}; vim.api.nvim_create_autocmd('User', { pattern = 'CoderStatus',"
        " callback = function() table.insert(states, require('coder').status()) end });"
        "require('coder').options.confirm = function(_, _, answer) answer(false) end"
    )
    editor.nvim.command("CoderFix")
    editor.until(lambda: editor.lua("return states") == ["coder: fixing test_state.py::test_state 25 %", ""])


def test_commands_name_the_place(editor: Editor) -> None:
    editor.open("place.py", "x = 'ß'\n")
    editor.nvim.current.window.cursor = (1, 7)
    editor.nvim.command("CoderComplete")
    editor.until(lambda: editor.log[-1] == ["complete function", {"line": 0, "character": 7}])
    editor.nvim.command("CoderClearCache")
    editor.until(lambda: editor.log[-1] == ["clear cache"])


def test_newer_neovim_draws_by_itself(editor: Editor) -> None:
    """Neovim 0.12's own inline completion, stood in for by a record of how it is called."""
    code = """
        local calls = {}
        vim.lsp.inline_completion = {
          enable = function(on, filter) table.insert(calls, { 'enable', on, filter.client_id }) end,
          get = function() table.insert(calls, { 'get' }) return true end,
          select = function(how) table.insert(calls, { 'select', how.count }) end,
        }
        local native = require('coder.native')
        native.attach({ id = 7 }, 1)
        local key = native.actions.accept()
        native.actions.previous()
        vim.lsp.inline_completion.get = function() return false end
        local nothing = native.actions.accept()
        vim.lsp.inline_completion = nil
        return { calls, key, nothing == nil }
    """
    assert editor.lua(code) == [[["enable", True, 7], ["get"], ["select", -1]], "", True]


def test_the_test_around_the_cursor_is_found(editor: Editor) -> None:
    lines = """
import os
def helper():
    return 1
class TestSums:
    async def test_add(self):
        def inner():
            pass

        assert inner()
    def setup(self):
        pass
def test_alone():
    class Box:
        pass
    assert Box
"""
    code = """
        local lines = ...
        return vim.tbl_map(function(row)
          return require('coder.commands').test_at('t.py', lines, row) or ''
        end, { 1, 4, 6, 8, 10, 12, 16 })
    """
    add, alone = "t.py::TestSums::test_add", "t.py::test_alone"
    assert editor.lua(code, lines.split("\n")) == ["", "", add, add, add, "", alone]
