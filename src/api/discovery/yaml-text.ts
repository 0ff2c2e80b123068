import { stringify } from 'yaml';
import type { JsonObject } from '../../../schemas/json/json-value.js';

/** A JSON value as YAML (RFC 9512) that readers of YAML 1.1 and 1.2 understand in the same way: strings are quoted, nothing is an alias. */
export function yamlText(value: JsonObject): string {
  return stringify(value, {
    version: '1.1',
    aliasDuplicateObjects: false,
    defaultStringType: 'QUOTE_DOUBLE',
    defaultKeyType: 'PLAIN',
    lineWidth: 0,
  });
}
