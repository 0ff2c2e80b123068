import { Document, isCollection, isScalar, visit, type YAMLMap, type YAMLSeq } from 'yaml';
import type { JsonObject } from '../../../schemas/json/json-value.js';

/**
 * Serialises a JSON value as YAML (RFC 9512) that YAML 1.1 and 1.2 readers understand in the same way: strings that
 * either would read as something else are quoted, and there are no aliases. Lists of scalars, and all short lists and
 * mappings, such as a property of a schema, take one line. The indentation is one space: with two, a tenth of the
 * OpenAPI document was spaces.
 */
export function yamlText(value: JsonObject): string {
  const document = new Document(value, { version: '1.1', compat: 'core', aliasDuplicateObjects: false });
  visit(document, {
    Seq: (_, list) => {
      list.flow = list.items.every(isScalar) || isShort(list, document);
    },
    Map: (_, mapping) => {
      mapping.flow = isShort(mapping, document);
    },
    Scalar: (key, scalar, ancestors) => {
      const isInFlow = ancestors.some((node) => isCollection(node) && node.flow === true);
      // For strict YAML 1.1 readers, such as that of .NET, a colon ends a plain scalar in a flow collection.
      if (key !== 'key' && isInFlow && typeof scalar.value === 'string' && scalar.value.includes(':'))
        scalar.type = 'QUOTE_SINGLE';
    },
  });
  return document.toString({
    defaultStringType: 'PLAIN',
    defaultKeyType: 'PLAIN',
    flowCollectionPadding: false,
    indent: 1,
    indentSeq: false,
    lineWidth: 0,
  });
}

/** Number of characters of JSON that are still readable on one line. */
const SHORT = 160;

function isShort(node: YAMLMap | YAMLSeq, document: Document): boolean {
  return JSON.stringify(node.toJS(document)).length <= SHORT;
}
