import type { PolicyTemplate } from './policy-template.js';

const LOADERS = {
  en: () => import('./en.js'),
  de: () => import('./de.js'),
  tr: () => import('./tr.js'),
} as const satisfies Record<string, () => Promise<{ readonly template: PolicyTemplate }>>;

export const TEMPLATE_LANGUAGES = ['en', 'de', 'tr'] as const satisfies readonly (keyof typeof LOADERS)[];
type TemplateLanguage = (typeof TEMPLATE_LANGUAGES)[number];

/** Loads the template of a policy in one language. */
export async function loadTemplate(language: TemplateLanguage): Promise<PolicyTemplate> {
  return (await LOADERS[language]()).template;
}
