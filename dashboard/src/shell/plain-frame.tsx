import type { ReactNode } from 'react';
import { useMessages } from '../i18n/locale.js';
import { Preferences } from './preferences.js';

/** The frame of pages without a sign-in. */
export function PlainFrame({ children }: { readonly children: ReactNode }) {
  const { common } = useMessages();
  return (
    <div className="plain">
      <header className="plain-head">
        <span className="brand">{common.product}</span>
        <Preferences />
      </header>
      <main className="plain-main">{children}</main>
    </div>
  );
}
