--- Ghost text: what would be inserted, drawn at the cursor without being in the buffer.
local M = {}

local namespace = vim.api.nvim_create_namespace('coder')

--- Virtual text knows no tab stops: blanks in their place. `column`: the screen column that the text starts in.
local function without_tabs(text, column, tabstop)
  return (text:gsub('([^\t]*)\t', function(before)
    column = column + vim.fn.strdisplaywidth(before)
    local blanks = tabstop - column % tabstop
    column = column + blanks
    return before .. (' '):rep(blanks)
  end))
end

--- Draws `text` at a cursor (row and byte column from 0). The rest of the line is drawn where it would come to stand.
function M.show(buffer, row, col, text)
  M.clear(buffer)
  local line = vim.api.nvim_buf_get_lines(buffer, row, row + 1, false)[1]
  local tabstop = vim.bo[buffer].tabstop
  local lines = vim.split(text, '\n')
  local rest = line:sub(col + 1)
  local first = without_tabs(lines[1], vim.fn.strdisplaywidth(line:sub(1, col)), tabstop)
  local mark = { virt_text_pos = 'inline', hl_mode = 'combine' }
  if #lines > 1 then
    if rest ~= '' then
      mark.virt_text_pos = 'overlay'
      first = first .. (' '):rep(vim.fn.strdisplaywidth(rest) - vim.fn.strdisplaywidth(first))
      lines[#lines] = lines[#lines] .. rest
    end
    mark.virt_lines = vim.tbl_map(function(below)
      return { { without_tabs(below, 0, tabstop), 'CoderGhost' } }
    end, vim.list_slice(lines, 2))
  end
  mark.virt_text = { { first, 'CoderGhost' } }
  vim.api.nvim_buf_set_extmark(buffer, namespace, row, col, mark)
end

function M.clear(buffer)
  if vim.api.nvim_buf_is_valid(buffer) then
    vim.api.nvim_buf_clear_namespace(buffer, namespace, 0, -1)
  end
end

return M
