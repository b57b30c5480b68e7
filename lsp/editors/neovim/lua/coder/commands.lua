--- The commands :CoderFix, :CoderComplete and :CoderClearCache.
local M = {}

local function execute(command, arguments)
  local client = require('coder').client()
  if not client then
    vim.notify('coder: no server serves this buffer (:checkhealth vim.lsp)', vim.log.levels.WARN)
    return
  end
  client:exec_cmd({ title = command, command = command, arguments = arguments }, nil, function(err)
    if err then
      vim.notify('coder: ' .. err.message, vim.log.levels.ERROR)
    end
  end)
end

--- The pytest node id of the test function around a row (from 1), or nil. `lines`: of the file.
function M.test_at(path, lines, row)
  local limit, test = math.huge, nil
  for i = row, 1, -1 do
    local blanks, code = lines[i]:match('^(%s*)(.*)$')
    local kind, name = code:gsub('^async%s+', ''):match('^(%a+)%s+([%w_]+)')
    local opens = kind == 'def' or kind == 'class'
    if code ~= '' and #blanks < limit and (opens or limit == math.huge) then
      limit = #blanks
      if kind == 'def' then
        test = vim.startswith(name, 'test') and name or nil
      elseif kind == 'class' and test then
        test = name .. '::' .. test
      end
    end
  end
  return test and path .. '::' .. test
end

function M.fix(node)
  local client = require('coder').client()
  local path = vim.api.nvim_buf_get_name(0)
  local shown = client and client.root_dir and vim.fs.relpath(client.root_dir, path) or vim.fn.fnamemodify(path, ':.')
  local lines = vim.api.nvim_buf_get_lines(0, 0, -1, false)
  node = node or M.test_at(shown, lines, vim.api.nvim_win_get_cursor(0)[1])
  if not node then
    vim.notify('coder: the cursor is in no test function; :CoderFix path::test names one', vim.log.levels.WARN)
    return
  end
  execute('coder.fixTest', { vim.uri_from_bufnr(0), node })
end

function M.complete()
  local client = require('coder').client()
  local encoding = client and client.offset_encoding or 'utf-16'
  execute('coder.completeFunction', {
    vim.uri_from_bufnr(0),
    vim.lsp.util.make_position_params(0, encoding).position,
  })
end

function M.define()
  vim.api.nvim_create_user_command('CoderFix', function(call)
    M.fix(call.args ~= '' and call.args or nil)
  end, { nargs = '?', desc = 'Fix the failing test under the cursor (or the one named)' })
  vim.api.nvim_create_user_command('CoderComplete', M.complete, { desc = 'Complete the function under the cursor' })
  vim.api.nvim_create_user_command('CoderClearCache', function()
    execute('coder.clearCache', {})
  end, { desc = 'Forget what was read and completed' })
end

return M
