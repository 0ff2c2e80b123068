import { Document, isScalar, visit } from 'yaml';
import type { JsonObject } from '../../../schemas/json/json-value.js';

/**
 * A JSON value as YAML (RFC 9512) that readers of YAML 1.1 and 1.2 understand in the same way:
 * strings are quoted, and there are no aliases. A list of scalars takes one line, and so does a mapping of
 * one scalar, such as a reference.
 */
export function yamlText(value: JsonObject): string {
  const document = new Document(value, { version: '1.1', aliasDuplicateObjects: false });
  visit(document, {
    Seq: (_, list) => {
      list.flow = list.items.every(isScalar);
    },
    Map: (_, mapping) => {
      mapping.flow = mapping.items.length === 1 && isScalar(mapping.items[0]?.value);
    },
  });
  return document.toString({
    defaultStringType: 'QUOTE_DOUBLE',
    defaultKeyType: 'PLAIN',
    flowCollectionPadding: false,
    indentSeq: false,
    lineWidth: 0,
  });
}
