import type { Access } from '../server/operation.js';

/** Any API key of a verified site. */
export const ANY_KEY: Access = { apiKey: 'read', isSigned: false, roles: null, limit: 'plan' };
/** The same, for what every visit to a page loads: a publishable key counts by address alone. */
export const CONFIGURATION: Access = { ...ANY_KEY, limit: 'configuration' };
/** An API key of scope `write`, and a request signature. */
export const SIGNED_KEY: Access = { apiKey: 'write', isSigned: true, roles: null, limit: 'plan' };
/** Any API key, and the bearer token of an `api_user` of the tenant: reads of a backend. */
export const BACKEND: Access = { apiKey: 'read', isSigned: false, roles: ['api_user'], limit: 'plan' };
/**
 * An API key of scope `write`, such a bearer token, and a request signature: writes of a backend.
 */
export const SIGNED_BACKEND: Access = { apiKey: 'write', isSigned: true, roles: ['api_user'], limit: 'plan' };
