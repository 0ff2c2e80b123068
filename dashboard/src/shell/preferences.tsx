import { useState } from 'react';
import { CATALOGUES, isLanguage } from '../i18n/languages.js';
import { useLanguage, useMessages } from '../i18n/locale.js';
import { keepTheme, preferredTheme, THEMES } from '../preferences.js';

/** The choice of language and appearance, kept in this browser. */
export function Preferences({ hasVisibleLabels = false }: { readonly hasVisibleLabels?: boolean }) {
  const { shell, common } = useMessages();
  const { language, choose } = useLanguage();
  const [isRefused, setRefused] = useState(false);
  const [theme, setTheme] = useState(preferredTheme);
  const labelClass = hasVisibleLabels ? 'label' : 'for-readers';
  return (
    <div className="preferences">
      <label>
        <span className={labelClass}>{shell.language}</span>
        <select
          className="input"
          value={language}
          onChange={({ target }) => {
            setRefused(false);
            if (isLanguage(target.value)) choose(target.value).catch(() => setRefused(true));
          }}
        >
          {Object.keys(CATALOGUES)
            .filter(isLanguage)
            .map((one) => (
              <option key={one} value={one} lang={one}>
                {shell.languages[one]}
              </option>
            ))}
        </select>
      </label>
      {isRefused ? (
        <span role="alert" className="field-error">
          {common.languageFailed} {common.loadAgain}
        </span>
      ) : null}
      <label>
        <span className={labelClass}>{shell.theme}</span>
        <select
          className="input"
          value={theme}
          onChange={({ target }) => {
            const chosen = THEMES.find((one) => one === target.value) ?? 'system';
            keepTheme(chosen);
            setTheme(chosen);
          }}
        >
          {THEMES.map((one) => (
            <option key={one} value={one}>
              {shell.themes[one]}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}
