--- Changes that the server proposes: shown as a diff, and made when the user agrees.
local M = {}

local function lines_of(buffer)
  return table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n') .. '\n'
end

--- The text edits of a WorkspaceEdit, by buffer: { buffer, version or nil, edits }.
local function changes(edit)
  local all = {}
  for _, change in ipairs(edit.documentChanges or {}) do
    if change.textDocument then
      local version = change.textDocument.version
      table.insert(all, {
        buffer = vim.uri_to_bufnr(change.textDocument.uri),
        version = version ~= vim.NIL and version or nil,
        edits = change.edits,
      })
    end
  end
  for uri, edits in pairs(edit.documentChanges and {} or edit.changes or {}) do
    table.insert(all, { buffer = vim.uri_to_bufnr(uri), edits = edits })
  end
  return all
end

local function diff_of(change, encoding)
  local scratch = vim.api.nvim_create_buf(false, true)
  local before = lines_of(change.buffer)
  vim.api.nvim_buf_set_lines(scratch, 0, -1, false, vim.api.nvim_buf_get_lines(change.buffer, 0, -1, false))
  vim.lsp.util.apply_text_edits(vim.deepcopy(change.edits), scratch, encoding)
  local after = lines_of(scratch)
  vim.api.nvim_buf_delete(scratch, { force = true })
  local name = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(change.buffer), ':.')
  return ('--- %s\n+++ %s\n'):format(name, name) .. vim.diff(before, after, { result_type = 'unified' })
end

--- Shows the diff in a window of its own until the question is answered.
local function confirm(diff, reason, answer)
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, vim.split(diff, '\n'))
  vim.bo[buffer].filetype = 'diff'
  local window = vim.api.nvim_open_win(buffer, false, { split = 'below', height = math.min(20, vim.o.lines - 10) })
  vim.cmd.redraw()
  answer(vim.fn.confirm(reason .. '\nMake this change?', '&Yes\n&No', 2) == 1)
  vim.api.nvim_win_close(window, true)
end

--- Why the change is proposed, when the server wants it to be confirmed; else nil.
local function reason_of(edit)
  for _, annotation in pairs(edit.changeAnnotations or {}) do
    if annotation.needsConfirmation then
      return annotation.label .. (annotation.description and ': ' .. annotation.description or '')
    end
  end
end

--- The handler of `workspace/applyEdit`: refuses a change that was made for an older text, asks before one that wants to be
--- confirmed.
function M.on_apply_edit(_, params, context)
  local client = assert(vim.lsp.get_client_by_id(context.client_id))
  local proposed = changes(params.edit)
  local parts = {}
  for _, change in ipairs(proposed) do
    vim.fn.bufload(change.buffer)
    local version = vim.lsp.util.buf_versions[change.buffer]
    if change.version and version and version ~= change.version then
      vim.notify('coder: the text has changed since; nothing was done', vim.log.levels.WARN)
      return { applied = false, failureReason = 'a document has changed since' }
    end
    table.insert(parts, diff_of(change, client.offset_encoding))
  end
  local agreed = true
  local reason = reason_of(params.edit)
  if reason then
    local ask = require('coder').options.confirm or confirm
    ask(table.concat(parts, '\n'), reason, function(yes)
      agreed = yes
    end)
  end
  if not agreed then
    return { applied = false, failureReason = 'refused by the user' }
  end
  for _, change in ipairs(proposed) do
    vim.lsp.util.apply_text_edits(change.edits, change.buffer, client.offset_encoding)
  end
  return { applied = true }
end

return M
