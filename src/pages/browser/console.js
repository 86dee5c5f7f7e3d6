// @ts-check
/** Shows times in the viewer's zone. Every page is complete without it. */

for (const element of document.querySelectorAll('time[datetime]')) {
  const at = new Date(element.getAttribute('datetime') ?? '');
  if (!Number.isNaN(at.getTime())) {
    element.textContent = at.toLocaleString(undefined, {
      dateStyle: 'medium',
      timeStyle: 'medium',
    });
  }
}
