import { useState } from 'react';
import { useMessages } from '../i18n/locale.js';
import { Button } from './button.js';

interface CopyProps {
  readonly text: string;
  /** Name of the copied text, for screen readers. */
  readonly label: string;
}

/** A text, and a button that copies it. */
export function Copyable({ text, label }: CopyProps) {
  return (
    <div className="copyable">
      <pre className="code">{text}</pre>
      <CopyButton text={text} label={label} />
    </div>
  );
}

export function CopyButton({ text, label }: CopyProps) {
  const { common } = useMessages();
  const [state, setState] = useState<'idle' | 'copied' | 'refused'>('idle');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setState('copied');
    } catch {
      // The user or a policy refused it, or the page is not secure and has no clipboard.
      setState('refused');
    }
  };
  return (
    <>
      <Button onPress={copy} aria-label={`${common.copy}: ${label}`}>
        {state === 'copied' ? common.copied : common.copy}
      </Button>
      <span role="status" className={state === 'refused' ? 'field-error' : 'for-readers'}>
        {state === 'copied' ? common.copied : ''}
        {state === 'refused' ? common.copyRefused : ''}
      </span>
    </>
  );
}
