--- The plugin's own inline completion, for Neovim 0.11: asks after a rest, drops what came too late, follows what is
--- typed, and inserts a completion whole or word by word.
local draw = require('coder.draw')
local insertions = require('coder.insertion')

local M = {}

local INVOKED, AUTOMATIC = 1, 2

-- What is on the screen: buffer, row, col, the line's text before and after the cursor, and the choices with the index of
-- the one that is drawn.
local shown = nil
-- The request that is not answered yet: client and id.
local pending = nil
-- Where the last request was made; the same place is not asked twice by itself.
local asked = nil
local timer = assert(vim.uv.new_timer())

local function place()
  local cursor = vim.api.nvim_win_get_cursor(0)
  local buffer = vim.api.nvim_get_current_buf()
  return {
    buffer = buffer,
    tick = vim.api.nvim_buf_get_changedtick(buffer),
    row = cursor[1] - 1,
    col = cursor[2],
  }
end

local function inserting()
  return vim.startswith(vim.api.nvim_get_mode().mode, 'i')
end

local function hide()
  if shown then
    draw.clear(shown.buffer)
    shown = nil
  end
end

local function cancel()
  timer:stop()
  if pending then
    pending.client:cancel_request(pending.id)
    pending = nil
  end
end

local function present(choices, index)
  local at = place()
  local line = vim.api.nvim_get_current_line()
  shown = {
    buffer = at.buffer,
    row = at.row,
    col = at.col,
    before = line:sub(1, at.col),
    after = line:sub(at.col + 1),
    choices = choices,
    index = index,
  }
  draw.show(at.buffer, at.row, at.col, choices[index].text)
end

--- Whether what is shown still holds; typing what it says shortens it.
local function follow()
  local at = place()
  if not shown or not inserting() or at.buffer ~= shown.buffer or at.row ~= shown.row or at.col < shown.col then
    return false
  end
  local line = vim.api.nvim_get_current_line()
  if not vim.startswith(line, shown.before) or line:sub(at.col + 1) ~= shown.after then
    return false
  end
  local typed = line:sub(shown.col + 1, at.col)
  if typed == '' then
    return true
  end
  local drawn = shown.choices[shown.index].text
  local left = insertions.after_typing(shown.choices, typed)
  if #left == 0 then
    return false
  end
  local index = 1
  for i, choice in ipairs(left) do
    if typed .. choice.text == drawn then
      index = i
    end
  end
  present(left, index)
  return true
end

local function answer(client, at, result)
  if not inserting() or not vim.deep_equal(at, place()) then
    return
  end
  local line = vim.api.nvim_get_current_line()
  local choices = {}
  for _, item in ipairs(result.items or result) do
    table.insert(choices, insertions.of_item(item, line, at.row, at.col, client.offset_encoding))
  end
  if #choices > 0 then
    present(choices, 1)
  end
end

local function ask(kind)
  local client = require('coder').client()
  if not client or not inserting() then
    return
  end
  local at = place()
  local params = vim.lsp.util.make_position_params(0, client.offset_encoding)
  params.context = { triggerKind = kind }
  local id
  local sent
  sent, id = client:request('textDocument/inlineCompletion', params, function(err, result)
    if pending and pending.id == id then
      pending = nil
    end
    if not err and result then
      answer(client, at, result)
    end
  end, at.buffer)
  if sent then
    pending = { client = client, id = id }
  end
end

local function on_change()
  if follow() then
    return
  end
  hide()
  local at = place()
  if vim.deep_equal(at, asked) then
    return
  end
  asked = at
  cancel()
  timer:start(
    require('coder').options.debounce_ms,
    0,
    vim.schedule_wrap(function()
      ask(AUTOMATIC)
    end)
  )
end

local function stop()
  cancel()
  hide()
  asked = nil
end

function M.attach(_, buffer)
  local group = vim.api.nvim_create_augroup('coder_' .. buffer, {})
  vim.api.nvim_create_autocmd({ 'TextChangedI', 'CursorMovedI' }, { group = group, buffer = buffer, callback = on_change })
  vim.api.nvim_create_autocmd(
    { 'InsertLeave', 'BufLeave', 'CompleteChanged' },
    { group = group, buffer = buffer, callback = stop }
  )
end

local function insert(text)
  local at = place()
  local lines = vim.split(text, '\n')
  vim.api.nvim_buf_set_text(at.buffer, at.row, at.col, at.row, at.col, lines)
  local col = #lines == 1 and at.col + #text or #lines[#lines]
  vim.api.nvim_win_set_cursor(0, { at.row + #lines, col })
end

--- Whether a completion is on the screen and fits the text as it is.
function M.visible()
  return follow()
end

--- The text that is drawn, or nil.
function M.text()
  return shown and shown.choices[shown.index].text
end

--- Inserts `text`, which begins the completion that is drawn, and goes on showing what is left of it.
local function take(text)
  local choice = shown.choices[shown.index]
  hide()
  cancel()
  insert(text)
  if text ~= choice.text then
    present({ { text = choice.text:sub(#text + 1), command = choice.command } }, 1)
  elseif choice.command then
    require('coder').client():exec_cmd(choice.command)
  end
end

function M.accept()
  if follow() then
    take(M.text())
  end
end

function M.accept_word()
  if follow() then
    take(insertions.first_word(M.text()))
  end
end

function M.cycle(step)
  if follow() then
    present(shown.choices, (shown.index - 1 + step) % #shown.choices + 1)
  end
end

--- Asks now, for several completions to choose from.
function M.invoke()
  stop()
  ask(INVOKED)
end

function M.dismiss()
  cancel()
  hide()
end

-- `<C-g>u` ends the step of undo, so that undo takes back the completion and not what was typed before it.
local function when_visible(call, prefix)
  return function()
    return M.visible() and (prefix or '') .. "<Cmd>lua require('coder.ghost')." .. call .. '<CR>' or nil
  end
end

M.actions = {
  accept = when_visible('accept()', '<C-g>u'),
  word = when_visible('accept_word()', '<C-g>u'),
  next = when_visible('cycle(1)'),
  previous = when_visible('cycle(-1)'),
  dismiss = when_visible('dismiss()'),
  invoke = function()
    return require('coder').client() and "<Cmd>lua require('coder.ghost').invoke()<CR>" or nil
  end,
}

return M
