import type { BannerConfiguration } from '../../../../schemas/banner/banner-in-language.js';
import type { SiteRule } from '../../../../schemas/events/site-config.js';

/** The part of a published configuration that a visitor sees. */
export interface PublishedConfiguration extends BannerConfiguration {
  readonly default_language: string;
  readonly rules?: readonly SiteRule[];
}

/** Reads the record of a published configuration, or null if it has an unknown form. @param text JSON */
export function readPublished(text: string): PublishedConfiguration | null {
  const value: unknown = JSON.parse(text);
  return isPublished(value) ? value : null;
}

function isPublished(value: unknown): value is PublishedConfiguration {
  return (
    isObject(value) &&
    typeof value.default_language === 'string' &&
    isObject(value.controller) &&
    isObject(value.banner) &&
    Object.values(value.banner).every(isTexts) &&
    isTexts(value.withdrawal) &&
    Array.isArray(value.languages) &&
    (value.rules === undefined ||
      isListOf(value.rules, (one) => typeof one.id === 'string' && isObject(one.categories))) &&
    isListOf(value.cookies, (one) => typeof one.name === 'string' && isTexts(one.purpose)) &&
    isListOf(
      value.categories,
      (one) =>
        typeof one.key === 'string' && isTexts(one.title) && isTexts(one.purpose) && Array.isArray(one.recipients),
    )
  );
}

function isListOf(value: unknown, isItem: (item: Record<string, unknown>) => boolean): boolean {
  return Array.isArray(value) && value.every((one: unknown) => isObject(one) && isItem(one));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isTexts(value: unknown): value is Readonly<Record<string, string>> {
  return isObject(value) && Object.values(value).every((text) => typeof text === 'string');
}
