import { createContext, type ReactNode, useContext, useMemo } from 'react';
import { I18nProvider } from 'react-aria-components';
import { type Formats, formatsOf } from './formats.js';
import type { Language } from './languages.js';
import type { Messages } from './messages.js';

interface Locale {
  readonly language: Language;
  readonly messages: Messages;
  readonly formats: Formats;
  /** Rejects if the texts of the language cannot be loaded; the language stays then. */
  readonly choose: (language: Language) => Promise<void>;
}

const Context = createContext<Locale | null>(null);

interface LocaleProviderProps {
  readonly language: Language;
  readonly messages: Messages;
  readonly choose: (language: Language) => Promise<void>;
  readonly children: ReactNode;
}

/** Gives the pages below it their language. */
export function LocaleProvider({ language, messages, choose, children }: LocaleProviderProps) {
  const locale = useMemo(
    () => ({ language, messages, choose, formats: formatsOf(language) }),
    [language, messages, choose],
  );
  return (
    <Context value={locale}>
      <I18nProvider locale={locale.formats.locale}>{children}</I18nProvider>
    </Context>
  );
}

function useLocaleContext(): Locale {
  const locale = useContext(Context);
  if (locale === null) throw new Error('no LocaleProvider is above this component');
  return locale;
}

/** The texts in the language of the user. */
export function useMessages(): Messages {
  return useLocaleContext().messages;
}

/** Formats of dates and numbers in the language of the user. */
export function useFormats(): Formats {
  return useLocaleContext().formats;
}

/** The language of the user, and how to choose another one. */
export function useLanguage(): Pick<Locale, 'language' | 'choose'> {
  return useLocaleContext();
}
