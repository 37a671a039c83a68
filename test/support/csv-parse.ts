/** RFC 4180 read character by character, sharing nothing with the writer: rows of texts; a null cell was empty, unquoted. */
export function parseCsv(text: string): Array<Array<string | null>> {
  const rows: Array<Array<string | null>> = []
  let row: Array<string | null> = []
  let at = 0
  while (at < text.length) {
    let cell: string | null = null
    if (text[at] === '"') {
      cell = ''
      for (at += 1; ; at += 1) {
        if (at >= text.length) throw new Error('a quoted cell does not end')
        if (text[at] !== '"') cell += text[at]
        else if (text[at + 1] === '"') {
          cell += '"'
          at += 1
        } else break
      }
      at += 1
    } else {
      const start = at
      while (at < text.length && text[at] !== ',' && text[at] !== '\r') {
        if (text[at] === '"' || text[at] === '\n') throw new Error(`a bare ${JSON.stringify(text[at])} at ${at}`)
        at += 1
      }
      if (at > start) cell = text.slice(start, at)
    }
    row.push(cell)
    if (text[at] === ',') at += 1
    else if (text.startsWith('\r\n', at)) {
      at += 2
      rows.push(row)
      row = []
    } else throw new Error(`neither a comma nor CRLF after the cell at ${at}`)
  }
  if (row.length > 0) throw new Error('the last row does not end with CRLF')
  return rows
}
