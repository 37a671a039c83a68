const MANY = Array.from({ length: 1001 }, (_, i) => `a${i}="1"`)

/**
 * XML that no reader may take: [what, the part, the fault, the byte]. Expat 2.5 refuses them too, but for what is refused
 * here on purpose: DOCTYPE, other encodings, and what is too deep, too long or too many.
 */
export const BAD_XML: readonly (readonly [string, string | Uint8Array, RegExp, number])[] = [
  ['billion laughs', '<!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><l>&b;</l>', /^xml refused: a DOCTYPE/, 0],
  ['external entity', '<?xml version="1.0"?><!DOCTYPE l SYSTEM "file:///etc/passwd"><l/>', /^xml refused: a DOCTYPE/, 21],
  ['unknown entity', '<l>a&nbsp;</l>', /invalid reference: '&nbsp;'/, 4],
  ['bare ampersand', '<l>é & b</l>', /invalid reference: '& b'/, 6],
  ['no character', '<l>&#0;</l>', /invalid reference/, 3],
  ['surrogate reference', '<l a="&#xD800;"/>', /invalid reference/, 6],
  ['control character', '<l>\u0001</l>', /invalid character: '\\u0001'/, 3],
  ['end of a section', '<l>]]></l>', /invalid markup/, 3],
  ['mismatch', '<l><a></l>', /mismatched tag/, 6],
  ['crossed', '<l><a><b></a></b></l>', /mismatched tag/, 9],
  ['nothing to close', '<l></a></l>', /invalid markup: a closing tag/, 3],
  ['closed twice', '<l></l></l>', /invalid markup/, 7],
  ['after an instruction', '<l><?p?></m></l>', /invalid markup/, 8],
  ['two roots', '<l/><l/>', /second root element/, 4],
  ['text after', '<l/>x', /text outside the root element: 'x'/, 4],
  ['text before', 'x<l/>', /text outside the root element: 'x'/, 0],
  ['not closed', '<l><a/>', /cut off: the end of the part inside <l>/, 7],
  ['cut in a tag', '<l></l', /cut off/, 6],
  ['cut in an attribute', '<l a="', /cut off/, 0],
  ['cut in a comment', '<l/><!-- ', /cut off/, 9],
  ['cut in a section', '<l><![CDATA[x', /cut off/, 13],
  ['no quotes', '<l a=b/>', /invalid attribute: 'a' without quotes/, 3],
  ['no value', '<l a/>', /invalid attribute: 'a' without quotes/, 3],
  ['attribute twice', '<l a="1" a="2"/>', /invalid attribute: 'a' twice/, 9],
  ['tag in an attribute', '<l a="<"/>', /invalid attribute: '<'/, 6],
  ['undeclared prefix', '<l><x:a/></l>', /invalid name: 'x:a'/, 3],
  ['undeclared prefix of an attribute', '<l x:a="1"/>', /invalid name: 'x:a'/, 0],
  ['bad name', '<l><1a/></l>', /invalid name: '1a'/, 3],
  ['tag in a tag', '<l><a<b/></l>', /invalid name: 'a<b'/, 3],
  ['other declaration', '<l><!ELEMENT a></l>', /invalid markup/, 3],
  ['late XML declaration', '<l><?xml version="1.0"?></l>', /invalid markup: an XML declaration/, 3],
  ['bad XML declaration', '<?xml encoding="UTF-8"?><l/>', /invalid markup: '<\?xml enc/, 0],
  ['other encoding', '<?xml version="1.0" encoding="windows-1252"?><l/>', /unsupported encoding: 'windows-1252'/, 0],
  ['not UTF-8', Uint8Array.of(0x3c, 0x6c, 0x3e, 0xc3, 0xa9, 0xff, 0x3c), /wrong encoding/, 5],
  ['nothing', '', /empty: no element/, 0],
  ['blanks', ' \n', /empty: no element/, 2],
  ['too deep', '<a>'.repeat(300), /nested too deeply/, 768],
  ['too many attributes', `<l ${MANY.join(' ')}/>`, /too many attributes/, 8893],
  ['too much text', `<l>${'x'.repeat(5 * 2 ** 20)}</l>`, /text too long/, 4194304]
]
