import { ERROR_CODES, type ErrorCode } from '../../../schemas/api/error-codes.js';
import type { JsonObject } from '../../../schemas/json/json-value.js';
import { BODY_ERRORS, COMMON_ERRORS } from '../server/operation.js';

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

/**
 * The responses for statuses that an operation does not list, for operations without and with a body. Nearly every
 * operation has a rate limit.
 */
const OTHERS = {
  OtherErrors: [...COMMON_ERRORS, 'RATE_LIMIT_EXCEEDED'],
  OtherErrorsWithBody: [...COMMON_ERRORS, ...BODY_ERRORS, 'RATE_LIMIT_EXCEEDED'],
} satisfies Record<string, readonly ErrorCode[]>;

/**
 * The error responses of a document as components, one for each combination of status and codes. They share one schema,
 * because generators create a class for each schema. The description and `x-error-codes` list the codes of a response.
 * Errors that every operation (or every one with a body) can return go to its `default` response, unless their status
 * has further codes.
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
    const others = BODY_ERRORS.every((code) => codes.includes(code)) ? 'OtherErrorsWithBody' : 'OtherErrors';
    const all = [...byStatus].sort(([a], [b]) => a - b);
    const own = all.filter(([, ofStatus]) => ofStatus.some((code) => !OTHERS[others].includes(code)));
    // Linters require that every operation has at least one 4xx response of its own.
    const stated = own.some(([status]) => status < 500) ? own : [...all.filter(([status]) => status === 400), ...own];
    return {
      ...Object.fromEntries(stated.map(([status, ofStatus]) => [String(status), this.#refer(status, ofStatus)])),
      default: reference(others),
    };
  }

  /** Every response that is referenced. */
  get components(): JsonObject {
    return {
      ...Object.fromEntries(
        Object.entries(OTHERS).map(([name, codes]) => [
          name,
          this.#respond(codes, (code) => `${ERROR_CODES[code].status} \`${code}\``),
        ]),
      ),
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
   * Returns the code if there is only one; otherwise the reason phrase of the status, numbered from the second
   * combination on.
   */
  #nameFor(status: number, codes: readonly ErrorCode[]): string {
    const [code] = codes;
    if (code !== undefined && codes.length === 1) return pascalCase(code);
    const phrase = PHRASES[status] ?? `Status${status}`;
    const count = (this.#counts.get(phrase) ?? 0) + 1;
    this.#counts.set(phrase, count);
    return count === 1 ? `${phrase}Errors` : `${phrase}${count}`;
  }

  #respond(codes: readonly ErrorCode[], shown = (code: ErrorCode) => `\`${code}\``): JsonObject {
    const canWait = codes.some((code) => WITH_RETRY_AFTER.has(ERROR_CODES[code].status));
    return {
      description: codes.map(shown).join(', '),
      ...(canWait && { headers: { 'Retry-After': { $ref: '#/components/headers/Retry-After' } } }),
      content: { 'application/json': { schema: this.errorSchema } },
      'x-error-codes': [...codes],
    };
  }
}

/** Returns the table of errors as Markdown. @param isListed selects the codes */
export function tableOfErrors(isListed: (code: string) => boolean): string {
  const rows = Object.entries(ERROR_CODES)
    .filter(([code]) => isListed(code))
    .map(([code, { status, meaning }]) => `| ${status} | \`${code}\` | ${meaning} |`);
  return `| Status | Code | Meaning |\n|---|---|---|\n${rows.join('\n')}`;
}

function reference(name: string): JsonObject {
  return { $ref: `#/components/responses/${name}` };
}

function pascalCase(code: string): string {
  return code.toLowerCase().replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
}
