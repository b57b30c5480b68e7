--- coder in Neovim: starts `coder lsp`, shows its completions, runs its commands.
local M = {}

M.defaults = {
  cmd = { 'coder', 'lsp' },
  root_markers = { 'pyproject.toml', 'package.json', 'go.mod', 'Cargo.toml', '.git' },
  filetypes = nil, -- nil: every file type
  -- The settings of the server (docs/editors.md lists them).
  settings = {},
  -- Neovim 0.12 brings inline completion of its own; false draws the plugin's even there.
  native = vim.lsp.inline_completion ~= nil,
  -- Milliseconds of rest after a keystroke before the server is asked.
  debounce_ms = 40,
  -- A key set to false is not mapped.
  keys = { accept = '<Tab>', word = '<M-Right>', next = '<M-]>', previous = '<M-[>', dismiss = '<C-]>', invoke = '<M-\\>' },
  -- Asked before a change is made: function(diff, reason, answer) that calls `answer(true)` or `answer(false)`.
  confirm = nil,
}

M.options = M.defaults

--- The client of `coder lsp` that serves the buffer, or nil.
function M.client(buffer)
  return vim.lsp.get_clients({ name = 'coder', bufnr = buffer or vim.api.nvim_get_current_buf() })[1]
end

--- What the server is doing, as a short text for a status line; empty while it rests.
function M.status()
  return require('coder.status').text()
end

local function capabilities()
  local all = vim.lsp.protocol.make_client_capabilities()
  all.textDocument.inlineCompletion = { dynamicRegistration = false }
  all.workspace.workspaceEdit.documentChanges = true
  all.workspace.workspaceEdit.changeAnnotationSupport = { groupsOnLabel = false }
  return all
end

--- Every action gives the keys to run in place of the mapped one, or nil where the key keeps its own meaning.
local function map_keys(actions)
  for name, lhs in pairs(M.options.keys) do
    local action = actions[name]
    if lhs and action then
      vim.keymap.set('i', lhs, function()
        return action() or lhs
      end, { expr = true, desc = 'coder: ' .. name .. ' inline completion' })
    end
  end
end

--- Starts the server for every buffer from now on. `options`: see `M.defaults`.
function M.setup(options)
  M.options = vim.tbl_deep_extend('force', M.defaults, options or {})
  local show = require(M.options.native and 'coder.native' or 'coder.ghost')
  local status = require('coder.status')
  vim.api.nvim_set_hl(0, 'CoderGhost', { link = 'Comment', default = true })
  vim.lsp.config('coder', {
    cmd = M.options.cmd,
    root_markers = M.options.root_markers,
    filetypes = M.options.filetypes,
    settings = { coder = M.options.settings },
    capabilities = vim.tbl_deep_extend('force', capabilities(), M.options.capabilities or {}),
    handlers = {
      ['coder/status'] = status.on_status,
      ['workspace/applyEdit'] = require('coder.preview').on_apply_edit,
    },
    on_attach = function(client, buffer)
      if client.server_capabilities.inlineCompletionProvider then
        show.attach(client, buffer)
      end
    end,
    on_exit = status.on_exit,
  })
  vim.lsp.enable('coder')
  map_keys(show.actions)
  require('coder.commands').define()
end

return M
