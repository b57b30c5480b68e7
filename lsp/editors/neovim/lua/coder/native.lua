--- Completions through Neovim 0.12's own inline completion: it asks, draws and inserts.
local M = {}

function M.attach(client, _)
  vim.lsp.inline_completion.enable(true, { client_id = client.id })
end

local function select(count)
  return function()
    vim.lsp.inline_completion.select({ count = count })
    return ''
  end
end

M.actions = {
  accept = function()
    return vim.lsp.inline_completion.get() and '' or nil
  end,
  next = select(1),
  previous = select(-1),
}

return M
