--- What the server says it is doing (the notification `coder/status`).
local M = {}

local current = { state = 'idle', message = '' }

local function changed()
  vim.api.nvim_exec_autocmds('User', { pattern = 'CoderStatus', data = current })
  vim.cmd.redrawstatus()
end

function M.on_status(_, params)
  local before = current
  current = params
  if params.state == 'error' and (before.state ~= 'error' or before.message ~= params.message) then
    vim.notify('coder: ' .. params.message, vim.log.levels.ERROR)
  end
  changed()
end

function M.on_exit()
  current = { state = 'idle', message = '' }
  vim.schedule(changed)
end

--- A short text for a status line; `progress` of the server is a share from 0 to 1.
function M.text()
  if current.state == 'idle' then
    return ''
  end
  local share = type(current.progress) == 'number' and (' %d %%'):format(math.floor(current.progress * 100)) or ''
  return 'coder: ' .. (current.message ~= '' and current.message or current.state) .. share
end

return M
