import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { useCallback, useEffect, useState } from 'react';
import { oneTabAtATime } from './api/across-tabs.js';
import { createApi } from './api/client.js';
import { createQueries, forgetUser } from './api/queries.js';
import { SessionStore } from './api/session.js';
import { AppProvider } from './app-context.js';
import { CATALOGUES, type Language } from './i18n/languages.js';
import { LocaleProvider } from './i18n/locale.js';
import type { Messages } from './i18n/messages.js';
import { keepLanguage, signInMark } from './preferences.js';
import { createPanelRouter } from './router.js';

interface AppProps {
  readonly language: Language;
  readonly messages: Messages;
}

/** The dashboard. */
export function App({ language: firstLanguage, messages: firstMessages }: AppProps) {
  const [locale, setLocale] = useState({ language: firstLanguage, messages: firstMessages });
  const [parts] = useState(() => {
    const session = new SessionStore(() => location.reload(), oneTabAtATime, signInMark);
    const queries = createQueries();
    return { session, queries, api: createApi(session), router: createPanelRouter() };
  });
  useEffect(() => {
    const { session, queries } = parts;
    const unsubscribe = session.subscribe(() => {
      if (session.session.status !== 'signed-in') forgetUser(queries);
    });
    void session.resume();
    return unsubscribe;
  }, [parts]);
  const choose = useCallback(async (language: Language) => {
    const messages = await CATALOGUES[language]();
    keepLanguage(language);
    document.documentElement.lang = language;
    setLocale({ language, messages });
  }, []);
  return (
    <LocaleProvider {...locale} choose={choose}>
      <AppProvider value={parts}>
        <QueryClientProvider client={parts.queries}>
          <RouterProvider router={parts.router} />
        </QueryClientProvider>
      </AppProvider>
    </LocaleProvider>
  );
}
