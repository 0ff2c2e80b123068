import { encode } from 'uqr';

interface QrCodeProps {
  readonly text: string;
  /** Purpose of the QR code, for screen readers. */
  readonly label: string;
}

/** A text as a QR code, dark on white in both appearances, because scanners expect it. */
export function QrCode({ text, label }: QrCodeProps) {
  const { data, size } = encode(text, { border: 2 });
  const path = data.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : ''))).join('');
  return (
    <svg className="qr-code" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label}>
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}
