document.querySelectorAll('table').forEach(table=>{
  const body=table.tBodies[0];
  [...table.tHead.rows[0].cells].forEach((head,column)=>{
    let up=false;
    head.title='sort';
    head.onclick=()=>{
      up=!up;
      const key=row=>{const c=row.cells[column];return c.dataset.s!==undefined?Number(c.dataset.s):c.textContent};
      const order=(a,b)=>typeof a===typeof b?(typeof a==='number'?a-b:a.localeCompare(b,undefined,{numeric:true})):
        typeof a==='number'?-1:1;
      const rows=[...body.rows].map(row=>[key(row),row]).sort((a,b)=>(up?1:-1)*order(a[0],b[0]));
      body.append(...rows.map(pair=>pair[1]));
    };
  });
});
document.querySelectorAll('input[data-filter]').forEach(input=>{
  const rows=[...input.parentElement.nextElementSibling.querySelectorAll('tbody tr')];
  const texts=rows.map(row=>row.textContent.toLowerCase());
  input.oninput=()=>{
    const words=input.value.toLowerCase().split(/\s+/);
    rows.forEach((row,i)=>row.hidden=!words.every(word=>texts[i].includes(word)));
  };
});
