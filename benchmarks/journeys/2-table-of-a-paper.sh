# Is the table that I cite right?
grammeter reproduce chollampatt2018 table2
