import { ERROR_CODES, type ErrorCode } from '../../../schemas/api/error-codes.js';
import type { JsonObject } from '../../../schemas/json/json-value.js';
import { COMMON_ERRORS } from '../server/operation-errors.js';

/** Statuses whose responses carry Retry-After. */
const WITH_RETRY_AFTER: ReadonlySet<number> = new Set([429, 503]);
const PHRASES: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  409: 'Conflict',
  422: 'UnprocessableContent',
  429: 'TooManyRequests',
  503: 'ServiceUnavailable',
};

/** Name of the response for the statuses that an operation does not list. */
const OTHER = 'OtherErrors';

/**
 * The error responses of a document as components: each combination of status and codes once.
 * Errors that every operation can return, with statuses for which an operation has no other code,
 * are its `default` response.
 */
export class ErrorResponses {
  readonly #named = new Map<string, { readonly name: string; readonly response: JsonObject }>();
  readonly #counts = new Map<string, number>();

  /** @param errorSchema reference to the schema that every error has */
  constructor(private readonly errorSchema: JsonObject) {}

  /** References to the responses of an operation, by status. */
  of(codes: readonly ErrorCode[]): JsonObject {
    const byStatus = new Map<number, ErrorCode[]>();
    for (const code of codes) {
      const { status } = ERROR_CODES[code];
      byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
    }
    const own = [...byStatus]
      // Every operation has at least one response of its own for errors of the client, as linters
      // demand.
      .filter(([status, ofStatus]) => status === 400 || ofStatus.some((code) => !COMMON_ERRORS.includes(code)))
      .sort(([a], [b]) => a - b);
    return {
      ...Object.fromEntries(own.map(([status, ofStatus]) => [String(status), this.#refer(status, ofStatus)])),
      default: reference(OTHER),
    };
  }

  /** Every response that was referred to. */
  get components(): JsonObject {
    return {
      [OTHER]: this.#respond(COMMON_ERRORS, (code) => `${ERROR_CODES[code].status} \`${code}\``),
      ...Object.fromEntries([...this.#named.values()].map(({ name, response }) => [name, response])),
    };
  }

  #refer(status: number, codes: readonly ErrorCode[]): JsonObject {
    const sorted = [...codes].sort();
    const key = sorted.join(' ');
    const known = this.#named.get(key) ?? { name: this.#nameFor(status, sorted), response: this.#respond(sorted) };
    this.#named.set(key, known);
    return reference(known.name);
  }

  /**
   * The code if there is only one, else the phrase of the status, with a number from the second
   * combination on.
   */
  #nameFor(status: number, codes: readonly ErrorCode[]): string {
    const [code] = codes;
    if (code !== undefined && codes.length === 1) return pascalCase(code);
    const phrase = PHRASES[status] ?? `Status${status}`;
    const count = (this.#counts.get(phrase) ?? 0) + 1;
    this.#counts.set(phrase, count);
    return count === 1 ? `${phrase}Errors` : `${phrase}Errors${count}`;
  }

  #respond(codes: readonly ErrorCode[], shown = (code: ErrorCode) => `\`${code}\``): JsonObject {
    const canWait = codes.some((code) => WITH_RETRY_AFTER.has(ERROR_CODES[code].status));
    return {
      description: codes.map((code) => `${shown(code)}: ${ERROR_CODES[code].meaning}`).join('\n\n'),
      ...(canWait && { headers: { 'Retry-After': { $ref: '#/components/headers/Retry-After' } } }),
      content: {
        'application/json': {
          schema: { allOf: [this.errorSchema, { type: 'object', properties: { code: { enum: [...codes] } } }] },
        },
      },
    };
  }
}

function reference(name: string): JsonObject {
  return { $ref: `#/components/responses/${name}` };
}

function pascalCase(code: string): string {
  return code.toLowerCase().replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
}
