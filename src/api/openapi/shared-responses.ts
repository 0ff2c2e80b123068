import type { JsonObject } from '../../../schemas/json/json-value.js';

/** Successful responses of a document: one that several operations return is a component. */
export interface SharedResponses {
  readonly components: JsonObject;
  /** Returns the response, or a reference to it if it is shared. */
  readonly of: (response: JsonObject) => JsonObject;
}

/** @param responses the responses of every operation */
export function sharedResponses(responses: readonly JsonObject[]): SharedResponses {
  const counts = new Map<string, number>();
  for (const response of responses) {
    const text = JSON.stringify(response);
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  const components = new Map<string, JsonObject>();
  const names = new Map<string, string>();
  for (const response of responses) {
    const text = JSON.stringify(response);
    const [, name] = SCHEMA.exec(text) ?? [];
    if (name === undefined || counts.get(text) === 1 || components.has(name)) continue;
    components.set(name, response);
    names.set(text, name);
  }
  return {
    components: Object.fromEntries(components),
    of: (response) => {
      const name = names.get(JSON.stringify(response));
      return name === undefined ? response : { $ref: `#/components/responses/${name}` };
    },
  };
}

/** The schema of a JSON response, which also names the response. */
const SCHEMA = /"application\/json":\{"schema":\{"\$ref":"#\/components\/schemas\/(\w+)"\}/;
