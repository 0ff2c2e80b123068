import type { FastifyRequest } from 'fastify';
import type { FieldError } from '../../../schemas/api/error-codes.js';
import { isWellFormed, localeOf } from '../../../schemas/language/language-tag.js';
import { matchLanguage } from '../../../schemas/language/match-language.js';
import { acceptedLanguages } from '../../platform/accepted-languages.js';
import type { SiteContext } from '../../tenancy/directory/site-context.js';

/** The languages that a request asks for. */
export interface WantedLanguages {
  /** `language` of the query, then those of Accept-Language, the preferred one first. */
  readonly tags: readonly string[];
  /** For `data` of the response: that `language` was not read as it is written. */
  readonly warned: { readonly warnings?: FieldError[] };
}

export function wantedLanguages(
  { language = '' }: { readonly language?: string | undefined },
  { headers }: Pick<FastifyRequest, 'headers'>,
  site: SiteContext,
): WantedLanguages {
  const message = language.trim() === '' ? null : problemOf(language, site.config?.record.languages ?? []);
  return {
    tags: [language, ...acceptedLanguages(headers['accept-language'])],
    warned: message === null ? {} : { warnings: [{ field: 'language', message }] },
  };
}

const MOST_SHOWN = 40;
const ADVICE = 'Write a language tag (BCP 47), for example en or pt-BR.';

function problemOf(text: string, available: readonly string[]): string | null {
  const locale = localeOf(text);
  // A site can have texts in a language that the engine does not know.
  if (locale === undefined && matchLanguage(available, [text]) !== undefined) return null;
  const shown = JSON.stringify(text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text);
  if (locale === undefined)
    return `${shown} names no known language. Accept-Language and the default language were used. ${ADVICE}`;
  return isWellFormed(text) ? null : `${shown} was read as ${locale}. ${ADVICE}`;
}
