import createClient from 'openapi-fetch';
import { ApiFailure, failureOf } from './failure.js';
import type { paths } from './panel-api.js';
import type { SessionStore } from './session.js';
import type { ErrorBody, PageOf } from './types.js';

/** The panel API with the types of its OpenAPI document. */
export type Api = ReturnType<typeof createApi>;

export function createApi(session: SessionStore) {
  return createClient<paths>({ baseUrl: location.origin, fetch: (request) => session.send(request) });
}

interface Result<T> {
  readonly data?: T;
  readonly error?: ErrorBody;
  readonly response: Response;
}

/**
 * Returns the body of a successful response.
 * @throws ApiFailure
 */
export async function answerOf<T>(call: Promise<Result<T>>): Promise<T> {
  const { data, error, response } = await call.catch((cause: unknown) => {
    throw new ApiFailure('NO_ANSWER', String(cause), 0);
  });
  if (data === undefined) throw failureOf(response.status, error);
  return data;
}

/** The member `data` of a successful answer. @throws ApiFailure */
export async function dataOf<T>(call: Promise<Result<{ readonly data: T }>>): Promise<T> {
  return (await answerOf(call)).data;
}

/** Every item of a short list, for example the sites of a tenant. @throws ApiFailure */
export async function allPages<T>(read: (cursor: string | undefined) => Promise<PageOf<T>>): Promise<readonly T[]> {
  const items: T[] = [];
  let cursor: string | undefined;
  do {
    const page = await read(cursor);
    items.push(...page.data);
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return items;
}
