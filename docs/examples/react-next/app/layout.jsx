import { Banner, ConsentProvider, SettingsButton } from '@consent-ledger/react';

export const metadata = { title: 'Garden shop' };

export default function Layout({ children }) {
  return (
    <html lang="en">
      <body>
        <ConsentProvider baseUrl={process.env.NEXT_PUBLIC_CONSENT_SERVICE} apiKey={process.env.NEXT_PUBLIC_CONSENT_KEY}>
          <Banner />
          {children}
          <footer>
            <SettingsButton>Cookie settings</SettingsButton>
          </footer>
        </ConsentProvider>
      </body>
    </html>
  );
}
