import { Document, isScalar, visit, type YAMLMap, type YAMLSeq } from 'yaml';
import type { JsonObject } from '../../../schemas/json/json-value.js';

/**
 * A JSON value as YAML (RFC 9512) that readers of YAML 1.1 and 1.2 understand in the same way:
 * strings are quoted, and there are no aliases. A list of scalars takes one line, and so does every
 * list or mapping that is short, such as a property of a schema.
 */
export function yamlText(value: JsonObject): string {
  const document = new Document(value, { version: '1.1', aliasDuplicateObjects: false });
  visit(document, {
    Seq: (_, list) => {
      list.flow = list.items.every(isScalar) || isShort(list, document);
    },
    Map: (_, mapping) => {
      mapping.flow = isShort(mapping, document);
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

/** Characters of JSON that fit on a line beside the indentation of a schema and a name. */
const SHORT = 120;

function isShort(node: YAMLMap | YAMLSeq, document: Document): boolean {
  return JSON.stringify(node.toJS(document)).length <= SHORT;
}
