import { Document, isCollection, isScalar, visit, type YAMLMap, type YAMLSeq } from 'yaml';
import type { JsonObject } from '../../../schemas/json/json-value.js';

/**
 * A JSON value as YAML (RFC 9512) that readers of YAML 1.1 and 1.2 understand in the same way:
 * strings that either of them would read as something else are quoted, and there are no aliases. A
 * list of scalars takes one line, and so does every list or mapping that is short, such as a
 * property of a schema. A level is one space deep: with two, a tenth of the OpenAPI document was
 * spaces.
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
      // A colon ends a plain scalar of a flow collection for strict readers of YAML 1.1, such as that of .NET.
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

/** Characters of JSON that still read well on one line. */
const SHORT = 160;

function isShort(node: YAMLMap | YAMLSeq, document: Document): boolean {
  return JSON.stringify(node.toJS(document)).length <= SHORT;
}
