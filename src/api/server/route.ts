import type { FastifyReply, FastifyRequest } from 'fastify';
import type * as z from 'zod';
import type { UserRole } from '../../../schemas/api/auth.js';
import { NoBody, None } from '../../../schemas/api/panel/common.js';
import type { JsonObject } from '../../../schemas/json/json-value.js';
import type { MailCause } from '../../accounts/mail/mail-queue.js';
import type { SignedInUser } from '../../accounts/users/user-directory.js';
import type { SignedRequest } from '../../pipeline/admission/submission.js';
import type { AuditSubject } from '../../platform/audit-log.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { ApiKey } from '../../tenancy/api-keys/api-keys.js';
import type { SiteContext } from '../../tenancy/directory/site-context.js';
import type { PanelCaller, ToolCaller } from './caller.js';
import { type Access, AnyQuery, type Operation, type OperationExample } from './operation.js';
import type { PublicDocument } from './send-document.js';

/** A request whose path, query and body match the schemas of its operation. */
export interface OpenCall<P, Q, B> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** Such a request from a user who is signed in. */
export interface UserCall<P, Q, B> extends OpenCall<P, Q, B> {
  readonly user: SignedInUser;
}

/** A request to the panel that passed every check of its operation. */
export interface PanelCall<P, Q, B> {
  readonly user: PanelCaller;
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  /** Language and network for the mails that the request causes. */
  readonly mailCause: MailCause;
  /** Aborted when the client disconnects. Work that only reads stops then. */
  readonly gone: AbortSignal;
  readonly reply: FastifyReply;
}

/** A request to the Tool API that passed the checks of its operation. */
export interface ToolCall<P, Q> {
  readonly caller: ToolCaller;
  readonly params: P;
  readonly query: Q;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** Aborted once the service begins to stop. */
  readonly closing: AbortSignal;
}

/**
 * A request for what the public scanner serves without an API key: its site is the site of the key, or the site that
 * the request names.
 */
export interface SiteCall<P, Q> extends Omit<ToolCall<P, Q>, 'caller'> {
  readonly site: SiteContext;
  /** Null for a request without a key. */
  readonly apiKey: ApiKey | null;
}

/** A signed request whose signature matches. The handler uses up its nonce and then parses its body. */
export interface SignedCall<P, Q, B> extends ToolCall<P, Q> {
  readonly signed: SignedRequest;
  /** @throws ApiError MALFORMED_JSON, VALIDATION_ERROR */
  readonly body: () => B;
}

/** A response, and the entry of the audit log that goes with it. */
export interface Recorded<R> {
  readonly response: R;
  readonly subject: AuditSubject;
  /** Names of members, numbers and states; never a secret, and never a value of a data subject. */
  readonly details?: JsonObject;
}

interface Handle<Call, Answer, D> {
  /** @returns the body of the response, or the reply if the handler sent it */
  readonly handle: (call: Call, deps: D) => Promise<Answer | FastifyReply>;
}

/** Handles requests with a test key, which see only test objects. If absent, they are refused. */
interface HandleTest<Call, Answer, D> {
  readonly handleTest?: Handle<Call, Answer, D>['handle'];
}

/** The change of an operation, within a transaction in the role `consent_ledger_admin`. */
type Change<Call, R> = (call: Call, db: Queryable) => Promise<Recorded<R>>;

/** The handler of a panel operation: one of these members, depending on what the operation does. */
export type PanelHandlers<Call, R, D> =
  /** Changes nothing, and writes no audit entry. */
  | (Handle<Call, R, D> & {
      /**
       * Whether the response is compressed if the client accepts that. Never combine a secret with text that others
       * chose: the length of the compressed response would reveal how much of a guess matches the secret (BREACH).
       */
      readonly isCompressed?: true;
    })
  /**
   * Changes nothing. Its audit entry is committed before the response is sent, so nothing is disclosed without an
   * entry. It reads outside a transaction, so it blocks no change, however long it takes.
   */
  | { readonly disclose: (call: Call, deps: D) => Promise<Recorded<R>> }
  /**
   * Changes something. Its audit entry is written in the same transaction, which is committed before the response is
   * sent.
   */
  | { readonly change: (call: Call, db: Queryable, deps: D) => Promise<Recorded<R>> }
  /**
   * Does what must happen before the transaction, such as a DNS look-up, so that no database connection is held
   * meanwhile. @returns the change, which gets the user as read within the transaction
   */
  | { readonly prepare: (call: Call, deps: D) => Promise<Change<Call, R>> };

/** The handlers of an operation, by the credentials of its caller. P, Q and B are parsed values. */
interface Handlers<P, Q, B, R, D> {
  /** A bearer token of a user of the panel with one of the roles, and a rate limit for each user. */
  readonly panel: PanelHandlers<PanelCall<P, Q, B>, R, D>;
  /**
   * Like `tool`, or without a key on the host of the public scanner. The operation concerns no record, so test keys get
   * the same response.
   */
  readonly site: Handle<SiteCall<P, Q>, R, D>;
  /** Any API key of a verified site; with roles, also the bearer token of a backend. */
  readonly tool: Handle<ToolCall<P, Q>, R, D> & HandleTest<ToolCall<P, Q>, R, D>;
  /** An API key of scope `write`, and a request signature; with roles, also the bearer token of a backend. */
  readonly signed: Handle<SignedCall<P, Q, B>, R, D> & HandleTest<SignedCall<P, Q, B>, R, D>;
  /** A bearer token of a user with one of the roles. */
  readonly user: Handle<UserCall<P, Q, B>, R, D>;
  /** No credentials in the headers; they may be in the body. */
  readonly open: Handle<OpenCall<P, Q, B>, R, D>;
  /** No credentials. The response is a document that any cache may store. */
  readonly public: { readonly handle: (call: OpenCall<P, Q, B>, deps: D) => Promise<PublicDocument> };
}

export type Auth = keyof Handlers<unknown, unknown, unknown, unknown, unknown>;

/** An operation with its handlers. A server that has their dependencies can register it. */
export type Route<A extends Auth, D> = A extends Auth
  ? Operation & { readonly auth: A } & Handlers<unknown, unknown, unknown, unknown, D>[A]
  : never;

/** The definition of an operation. Defaults: `get`, 200, no parameters, no body, no errors, no audit entry. */
type Stated<P, Q, B, R> = Pick<Operation, 'id' | 'path' | 'tag' | 'summary'> &
  Partial<Omit<Operation, 'access' | 'params' | 'query' | 'body' | 'response' | 'example'>> & {
    readonly params?: P;
    readonly query?: Q;
    readonly body?: B;
    readonly response?: R;
    /** The limit on the number of its requests. If absent, the limit of its credentials applies. */
    readonly limit?: Access['limit'];
  };

/** An operation of the panel with a body shows an example of it. */
type Example<A, B> = A extends 'panel'
  ? typeof NoBody extends B
    ? { readonly example?: never }
    : { readonly example: { readonly body: z.input<B> & JsonObject } }
  : { readonly example?: OperationExample };

/**
 * Roles of which the user of the bearer token must have one, or null if none is needed. The member is required, so that
 * nobody forgets the choice.
 */
type Roles<A> = A extends 'panel' | 'user'
  ? { readonly roles: readonly UserRole[] }
  : A extends 'tool' | 'signed'
    ? { readonly roles: readonly UserRole[] | null }
    : { readonly roles?: never };

const LIMITS: Readonly<Record<Auth, Access['limit']>> = {
  panel: 'user',
  site: 'configuration',
  tool: 'plan',
  signed: 'plan',
  user: null,
  open: null,
  public: null,
};

/**
 * Returns the builder of operations, each with its handlers as one value. Nothing runs until the value is registered.
 * `auth` says which credentials a caller needs, and so what the handlers receive.
 * The builder infers its other type parameters from the schemas of response, path, query and body. They are parameters
 * of the builder because TypeScript types a handler by the schemas beside it in no other way.
 * @typeParam D dependencies of the handlers, which the server of the operations passes
 */
export function routesWith<D>() {
  function route<
    A extends Auth,
    R extends z.ZodType = typeof None,
    P extends z.ZodObject = typeof None,
    Q extends z.ZodObject = typeof None,
    B extends z.ZodType = typeof NoBody,
  >(
    definition: { readonly auth: A } & Stated<P, Q, B, R> &
      Roles<A> &
      Example<A, B> &
      Handlers<z.output<P>, z.output<Q>, z.output<B>, z.input<R>, D>[A],
  ): Route<A, D>;
  // The signature above binds the handlers to the schemas of their definition, and servers pass them what these schemas
  // parsed.
  function route({
    auth,
    roles = null,
    limit = LIMITS[auth],
    ...stated
  }: StatedByAny): Operation & { readonly auth: Auth } {
    const isKeyed = auth === 'site' || auth === 'tool' || auth === 'signed';
    const apiKey = isKeyed ? (auth === 'signed' ? 'write' : 'read') : null;
    return {
      method: 'get',
      status: 200,
      response: None,
      params: None,
      body: NoBody,
      // Only the panel refuses unknown query parameters.
      query: auth === 'panel' ? None : AnyQuery,
      errors: [],
      example: {},
      action: null,
      ...stated,
      auth,
      access: { apiKey, isSigned: auth === 'signed', roles, limit },
    };
  }
  return route;
}

interface StatedByAny extends Stated<z.ZodObject, z.ZodObject, z.ZodType, z.ZodType> {
  readonly auth: Auth;
  readonly roles?: readonly UserRole[] | null;
  readonly example?: OperationExample;
}
