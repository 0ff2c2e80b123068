import type * as z from 'zod';
import type { JsonObject } from '../../../schemas/json/json-value.js';
import type { Operation } from '../server/operation.js';
import { parameterSchemas } from './json-schemas.js';

/** The parameters of a document: those that several operations share are components. */
export interface DocumentParameters {
  readonly components: JsonObject;
  /** The parameters of an operation that its path does not state, as references where they are components. */
  readonly of: (operation: Operation) => JsonObject[];
  /** The parameters that a path states once for all of its operations. */
  readonly ofPath: (path: string) => JsonObject[];
}

export function documentParameters(operations: readonly Operation[]): DocumentParameters {
  const all = operations.flatMap(parametersOf);
  const components = new Map<string, Parameter>();
  for (const parameter of all) {
    const isShared = all.filter(({ text }) => text === parameter.text).length > 1;
    if (isShared && !components.has(parameter.component)) components.set(parameter.component, parameter);
  }
  const shown = ({ component, text, described }: Parameter): JsonObject =>
    components.get(component)?.text === text ? reference(component) : described;
  /** Path parameters of the paths that have several operations, if all of these describe them in the same words. */
  const ofPaths = new Map<string, readonly Parameter[]>();
  for (const path of new Set(operations.map((operation) => operation.path))) {
    const [first, ...others] = operations.filter((operation) => operation.path === path).map(parametersInPath);
    const texts = JSON.stringify(first);
    if (others.length > 0 && others.every((parameters) => JSON.stringify(parameters) === texts))
      ofPaths.set(path, first ?? []);
  }
  return {
    components: Object.fromEntries([...components].map(([name, { described }]) => [name, described])),
    of: (operation) =>
      (ofPaths.has(operation.path) ? parametersOfRequest(operation) : parametersOf(operation)).map(shown),
    ofPath: (path) => (ofPaths.get(path) ?? []).map(shown),
  };
}

function reference(name: string): JsonObject {
  return { $ref: `#/components/parameters/${name}` };
}

interface Parameter {
  /** Name as a component: `site_id` is `SiteId`. */
  readonly component: string;
  readonly described: JsonObject;
  /** The same as JSON text, for comparison. */
  readonly text: string;
}

function parametersOf(operation: Operation): Parameter[] {
  return [...parametersInPath(operation), ...parametersOfRequest(operation)];
}

function parametersInPath({ params, example }: Operation): Parameter[] {
  return parametersIn('path', params, example.path);
}

function parametersOfRequest({ query, example, requestHeaders = {} }: Operation): Parameter[] {
  const inHeaders = Object.entries(requestHeaders).map(([name, description]) => {
    const described: JsonObject = { name, in: 'header', required: false, description, schema: { type: 'string' } };
    return { component: name.replaceAll('-', ''), described, text: JSON.stringify(described) };
  });
  return [...parametersIn('query', query, example.query), ...inHeaders];
}

function parametersIn(
  place: 'path' | 'query',
  schema: z.ZodObject,
  examples: Readonly<Record<string, string>> = {},
): Parameter[] {
  const { properties, required } = parameterSchemas(schema);
  return Object.entries(properties).map(([name, { description, ...property }]) => {
    const example = examples[name];
    const described: JsonObject = {
      name,
      in: place,
      required: place === 'path' || required.includes(name),
      ...(description !== undefined && { description }),
      schema: property,
      ...(example !== undefined && { example: property.type === 'integer' ? Number(example) : example }),
    };
    const component = name.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
    return { component, described, text: JSON.stringify(described) };
  });
}
