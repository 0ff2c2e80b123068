import type { FastifyRequest } from 'fastify';
import { acceptedLanguages } from '../../platform/language.js';

/**
 * The languages that a request accepts, the preferred one first: `language` of the query, else
 * those of Accept-Language.
 */
export function wantedLanguages(
  { language }: { readonly language?: string | undefined },
  { headers }: Pick<FastifyRequest, 'headers'>,
): readonly string[] {
  return language === undefined ? acceptedLanguages(headers['accept-language']) : [language];
}
