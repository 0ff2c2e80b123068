import { MutationCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { useCallback, useEffect, useState } from 'react';
import { oneTabAtATime } from './api/across-tabs.js';
import { createApi } from './api/client.js';
import { ApiFailure } from './api/failure.js';
import { SessionStore } from './api/session.js';
import { AppProvider } from './app-context.js';
import { CATALOGUES, type Language } from './i18n/languages.js';
import { LocaleProvider } from './i18n/locale.js';
import type { Messages } from './i18n/messages.js';
import { keepLanguage } from './preferences.js';
import { createPanelRouter } from './router.js';

/** Whether a second attempt can help: the service did not answer, or failed. */
function isRetried(attempts: number, error: Error): boolean {
  return attempts < 2 && error instanceof ApiFailure && (error.status === 0 || error.status >= 500);
}

function createQueries(): QueryClient {
  const queries: QueryClient = new QueryClient({
    defaultOptions: { queries: { retry: isRetried, staleTime: 10_000 } },
    // A change can alter every list: the counts of a site, the audit log, the quota.
    mutationCache: new MutationCache({ onSuccess: () => queries.invalidateQueries() }),
  });
  return queries;
}

interface AppProps {
  readonly language: Language;
  readonly messages: Messages;
}

/** The dashboard. */
export function App({ language: firstLanguage, messages: firstMessages }: AppProps) {
  const [locale, setLocale] = useState({ language: firstLanguage, messages: firstMessages });
  const [parts] = useState(() => {
    const session = new SessionStore(() => location.reload(), oneTabAtATime);
    const queries = createQueries();
    return { session, queries, api: createApi(session), router: createPanelRouter() };
  });
  useEffect(() => {
    const { session, queries } = parts;
    const unsubscribe = session.subscribe(() => {
      // What one user read is not shown to the next.
      if (session.session.status !== 'signed-in') queries.clear();
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
