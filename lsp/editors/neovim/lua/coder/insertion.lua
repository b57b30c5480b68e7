--- What a completion would insert at the cursor, worked out of an LSP item. Columns are bytes from 0, as in Neovim's API.
local M = {}

--- The insertion that an item comes to at a cursor, or nil where it would change what is typed already.
--- An item replaces a range of the cursor's line; a ghost text can only add. So what stands before the cursor has to begin
--- the item's text, and what stands behind it, up to the end of the range, has to end it.
function M.of_item(item, line, row, col, encoding)
  if type(item.insertText) ~= 'string' then
    return nil
  end
  local text = item.insertText:gsub('\r', '')
  if item.range then
    local from, to = item.range.start, item.range['end']
    if from.line ~= row or to.line ~= row then
      return nil
    end
    local first = vim.str_byteindex(line, encoding, from.character, false)
    local last = vim.str_byteindex(line, encoding, to.character, false)
    local before, after = line:sub(first + 1, col), line:sub(col + 1, last)
    if first > col or last < col or #text <= #before + #after then
      return nil
    end
    if not vim.startswith(text, before) or not vim.endswith(text, after) then
      return nil
    end
    text = text:sub(#before + 1, #text - #after)
  end
  return text ~= '' and { text = text, command = item.command } or nil
end

--- The insertions that are left after `typed`: those that begin with it, shortened by it.
function M.after_typing(insertions, typed)
  local left = {}
  for _, insertion in ipairs(insertions) do
    if vim.startswith(insertion.text, typed) and #insertion.text > #typed then
      table.insert(left, { text = insertion.text:sub(#typed + 1), command = insertion.command })
    end
  end
  return left
end

--- The first word of a text with the blanks before it: a name or number, or a run of other characters.
function M.first_word(text)
  return text:match('^%s*[%w_\128-\255]+') or text:match('^%s*[^%w%s_\128-\255]+') or text
end

return M
