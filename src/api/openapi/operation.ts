import type { z } from 'zod';
import type { ErrorCode } from '../../../schemas/api/error-codes.js';
import type { JsonObject } from '../../../schemas/json/json-value.js';

/** Which credentials a route asks for. */
export type Access = 'key' | 'signed key' | 'key and bearer' | 'signed key and bearer' | 'bearer' | 'none';

/** A request that works, and what it is answered. `values.ts` names what stands for the values of a real installation. */
export interface Example {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: JsonObject;
  readonly response: JsonObject;
}

/** What the description says of one route and method. */
export interface Operation {
  readonly id: string;
  readonly method: 'get' | 'post';
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  readonly access: Access;
  readonly pathParameters?: z.ZodObject;
  readonly query?: z.ZodObject;
  /** Name of the request's schema in `components.ts`. */
  readonly body?: string;
  /** A request without a body is one with an empty object. */
  readonly isBodyOptional?: true;
  readonly status: 200 | 201 | 202;
  /** Name of the response's schema in `components.ts`. */
  readonly response: string;
  /** Another media type that the response may have, and what it holds. */
  readonly otherMediaType?: { readonly name: string; readonly description: string };
  /** Headers of the successful response, by name. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Beside those that come with the credentials. */
  readonly errors: readonly ErrorCode[];
  readonly example: Example;
}

/** What the description says of a route that is answered with a file. */
export interface Download
  extends Pick<Operation, 'id' | 'path' | 'summary' | 'description' | 'access' | 'errors' | 'headers'> {
  readonly method: 'get';
  readonly pathParameters: z.ZodObject;
  readonly file: { readonly mediaType: string; readonly description: string };
  readonly example: Pick<Example, 'path'>;
}
