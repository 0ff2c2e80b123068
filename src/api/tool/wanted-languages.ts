import type { FastifyRequest } from 'fastify';
import { LanguageQuery } from '../../../schemas/api/common.js';
import { acceptedLanguages } from '../../tenancy/documents/language.js';
import { validate } from '../server/json-body.js';

/**
 * The languages that a request wants, the best first: `language` of the query, else those of Accept-Language.
 * @throws ApiError VALIDATION_ERROR
 */
export function wantedLanguages(request: FastifyRequest): readonly string[] {
  const { language } = validate(LanguageQuery, request.query);
  return language === undefined ? acceptedLanguages(request.headers['accept-language']) : [language];
}
